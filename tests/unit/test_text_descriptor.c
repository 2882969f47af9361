/* SPDX-License-Identifier: MIT */
/*
 * test_text_descriptor.c - a text sink on a descriptor that was passed: files, pipes and terminals, whose readers may be
 * slow or gone; and what the program may do with the descriptor. Sockets are in test_text_socket.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "sinks/text/text.h"
#include "text_fixture.h"
#include "util.h"

static void fails(int fd, int error)
{
	errno = 0;
	ck_assert_ptr_null(tp_text_descriptor_sink(fd));
	ck_assert_int_eq(errno, error);
	if (fd >= 0)
		ck_assert_int_lt(fcntl(fd, F_GETFD), 0); /* it was closed */
}

/* ---- Refused ---- */

TEST(refused)
{
	int fd[2];

	fails(-1, EBADF);
	fails(open("/", O_RDONLY | O_DIRECTORY), EBADF);
	fails(open("/dev/null", O_RDONLY), EBADF);
	fails(open("/dev/null", O_PATH), EBADF);
	ck_assert_int_eq(pipe(fd), 0);
	fails(fd[0], EBADF);
	close(fd[1]);
}

/* It can't be opened anew: a FIFO without a reader; a terminal that is another user's. */
TEST(refused_by_the_system)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/fifo", temp_dir());
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	int reader = open(path, O_RDONLY | O_NONBLOCK), fd = open(path, O_WRONLY);
	ck_assert_int_ge(fd, 0);
	close(reader);
	capture_stderr();
	fails(fd, ENOTSUP);
	int master, slave;
	if (geteuid() == 0 && openpty(&master, &slave, NULL, NULL, NULL) == 0) {
		ck_assert_int_eq(seteuid(65534), 0);
		fails(slave, ENOTSUP);
		ck_assert_int_eq(seteuid(0), 0);
	}
	char *messages = captured_stderr();
	ck_assert_contains(messages, "tp: a text output can't be opened anew by /proc/self/fd/");
	ck_assert_contains(messages, "; pass a socket instead, or a descriptor with O_NONBLOCK\n");
	free(messages);
}

/* ---- Files ---- */

TEST(regular_file)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/log", temp_dir());
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "before\n", 7), 7);
	struct tp_sink *sink = open_on(dup(fd));
	trace_sample_int(1);
	ck_assert_int_eq(write(fd, "between\n", 8), 8); /* the offset is shared */
	trace_sample_int(2);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	close(fd);
	char *log = read_file(path);
	ck_assert_int_eq(strncmp(log, "before\n", 7), 0);
	const char *one = strstr(log, "value=1\n");
	ck_assert(one && strncmp(one + 8, "between\n", 8) == 0 && strstr(one, "value=2\n"));
	free(log);
}

TEST(full_disk)
{
	capture_stderr();
	struct tp_sink *sink = open_on(open("/dev/full", O_WRONLY));
	trace_sample_int(1);
	trace_sample_int(2);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 2);
	ck_assert_int_eq(tp_sink_close(sink), -ENOSPC);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "writing failed: No space left on device"), 1);
	free(messages);
}

/* ---- Pipes and terminals ---- */

TEST(pipe_with_a_slow_reader)
{
	int fd[2];

	ck_assert_int_eq(pipe(fd), 0);
	const int flags = fcntl(fd[1], F_GETFL);
	int theirs = dup(fd[1]);
	struct tp_sink *sink = open_on(fd[1]);
	for (int i = 0; i < 5000; i++)
		trace_sample_int(i);
	ck_assert_int_eq(fcntl(theirs, F_GETFL), flags); /* O_NONBLOCK is not theirs */
	ck_assert_int_eq(fcntl(theirs, F_GETSIG), 0);
	unsigned int nr = whole_lines(all_of(fd[0]));
	ck_assert_uint_gt(nr, 100);
	ck_assert_uint_eq(nr + tp_sink_lost_by(sink, TP_LOST_LIMIT), 5000);
	close(theirs);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(read(fd[0], &nr, 1), 0); /* no descriptor of the pipe is left */
}

/* It can be another user's: nothing is opened. Two sinks, as of two processes, don't disturb each other. */
TEST(pipe_that_never_waits)
{
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_NONBLOCK), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	struct tp_sink *other = open_on(dup(fd[1])), *sink = open_on(dup(fd[1]));
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
	for (int i = 0; i < 5000; i++)
		trace_sample_int(i);
	unsigned int nr = whole_lines(all_of(fd[0]));
	ck_assert_uint_gt(nr, 100);
	ck_assert_uint_eq(nr + tp_sink_lost_by(sink, TP_LOST_LIMIT) + tp_sink_lost_by(other, TP_LOST_LIMIT), 10000);
	ck_assert_uint_lt(tp_sink_lost(sink), 5000);
	ck_assert_uint_lt(tp_sink_lost(other), 5000);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(tp_sink_close(other), 0);
}

TEST(pipe_whose_reader_goes)
{
	int fd[2];

	signal(SIGPIPE, SIG_DFL);
	ck_assert_int_eq(pipe(fd), 0);
	capture_stderr();
	struct tp_sink *sink = open_on(fd[1]);
	close(fd[0]);
	trace_sample_int(1);
	trace_sample_int(2);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 2);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_lacks(messages, "writing failed");
	free(messages);
}

/* Nobody reads what is there: as behind ^S. */
TEST(terminal)
{
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, NULL) != 0) {
		puts("SKIPPED terminal: there are no pseudo-terminals");
		return;
	}
	struct tp_sink *sink = open_on(dup(slave));
	trace_sample_int(1);
	ck_assert_contains(all_of(master), "value=1\r\n");
	for (int i = 0; i < 20000; i++)
		trace_sample_int(i);
	ck_assert_uint_gt(tp_sink_lost_by(sink, TP_LOST_LIMIT), 0);
	ck_assert_int_eq(fcntl(slave, F_GETFL) & O_NONBLOCK, 0);
	close(slave);
	close(master); /* the terminal's window is closed */
	capture_stderr();
	trace_sample_int(1);
	trace_sample_int(2);
	ck_assert_uint_ge(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 2);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_lacks(messages, "writing failed");
	free(messages);
}

/* ---- The program closes it ---- */

TEST(closed_by_the_program)
{
	int fd[2], other[2];

	socket_pair(SOCK_SEQPACKET, fd);
	socket_pair(SOCK_SEQPACKET, other);
	struct tp_sink *sink = open_on(fd[0]);
	capture_stderr();
	ck_assert_int_eq(dup2(other[0], fd[0]), fd[0]);
	trace_sample_int(1);
	ck_assert_str_eq(all_of(other[1]), "");
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 1);
	ck_assert_int_eq(tp_sink_close(sink), -EBADF);
	ck_assert_int_ge(fcntl(fd[0], F_GETFD), 0); /* it is the program's */
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "writing failed"), 1);
	free(messages);
}

TEST(standard_numbers_stay_free)
{
	int fd[2];

	socket_pair(SOCK_SEQPACKET, fd);
	close(0);
	ck_assert_int_eq(dup(fd[0]), 0);
	struct tp_sink *sink = open_on(0);
	ck_assert_int_lt(fcntl(0, F_GETFD), 0);
	trace_sample_int(1);
	ck_assert_contains(all_of(fd[1]), "value=1\n");
	tp_sink_close(sink);
}

TEST(forked_child)
{
	int fd[2], status;

	socket_pair(SOCK_STREAM, fd);
	struct tp_sink *sink = open_on(fd[0]);
	trace_sample_int(1);
	pid_t child = fork();
	if (child == 0) {
		trace_sample_int(2);
		_exit(tp_sink_close(sink) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	trace_sample_int(3);
	char expected[64];
	const char *text = all_of(fd[1]);
	snprintf(expected, sizeof(expected), " %d/%d sample:sample_int: value=2\n", child, child);
	ck_assert_contains(text, expected);
	ck_assert_uint_eq(whole_lines(text), 3);
	tp_sink_close(sink);
}
