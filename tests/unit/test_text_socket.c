/* SPDX-License-Identifier: MIT */
/*
 * test_text_socket.c - a text sink on a socket, which was passed or is connected to by name: its reader may be slow, or
 * gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "sinks/text/text.h"
#include "text_fixture.h"
#include "util.h"

/* ---- Passed ---- */

static const int message_types[] = {SOCK_SEQPACKET, SOCK_DGRAM};

LOOP_TEST(a_message_a_line, 2)
{
	char text[256];
	int fd[2];

	socket_pair(message_types[_i], fd);
	struct tp_sink *sink = open_on(fd[0]);
	trace_sample_int(1);
	trace_sample_text("and a text");
	ssize_t n = recv(fd[1], text, sizeof(text) - 1, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_contains(text, " sample:sample_int: value=1\n");
	ck_assert_ptr_eq(strchr(text, '\n'), text + n - 1);
	n = recv(fd[1], text, sizeof(text) - 1, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	ck_assert_contains(text, "and a text\n");
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_le(recv(fd[1], text, sizeof(text), MSG_DONTWAIT), 0);
	ck_assert_int_lt(fcntl(fd[0], F_GETFD), 0);
}

static const int socket_types[] = {SOCK_SEQPACKET, SOCK_DGRAM, SOCK_STREAM};

/* The reader sleeps: nobody waits, what it gets is whole, and each line is there or counted. */
LOOP_TEST(slow_reader, 3)
{
	unsigned int nr = 0;
	int fd[2];

	socket_pair(socket_types[_i], fd);
	struct tp_sink *sink = open_on(fd[0]);
	capture_stderr();
	for (int i = 0; i < 20000; i++)
		trace_sample_int(i);
	nr += whole_lines(all_of(fd[1]));
	trace_sample_int(-1);
	const char *text = all_of(fd[1]);
	ck_assert_contains(text, "value=-1\n"); /* there is room again */
	nr += whole_lines(text);
	ck_assert_uint_gt(tp_sink_lost(sink), 0);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_LIMIT), tp_sink_lost(sink));
	ck_assert_uint_eq(nr + tp_sink_lost(sink), 20001);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "\n"), 1); /* at the end, and none at each line */
	ck_assert_contains(messages, "tp: text output: records lost: ");
	free(messages);
}

LOOP_TEST(reader_gone, 3)
{
	int fd[2];

	signal(SIGPIPE, SIG_DFL);
	socket_pair(socket_types[_i], fd);
	struct tp_sink *sink = open_on(fd[0]);
	capture_stderr();
	trace_sample_int(1);
	close(fd[1]);
	trace_sample_int(2);
	trace_sample_int(3);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 2);
	ck_assert_uint_eq(tp_sink_lost(sink), 2);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_lacks(messages, "writing failed");
	free(messages);
}

static char *long_text(size_t len)
{
	char *text = malloc(len + 1);

	memset(text, 'x', len);
	text[len] = '\0';
	return text;
}

/* Lines of 60,000 bytes into a small socket, that are longer than what it takes at once. */
TEST(long_lines_of_a_stream)
{
	const int small = 1;
	unsigned int nr = 0;
	char *text = long_text(60000);
	int fd[2];

	socket_pair(SOCK_STREAM, fd);
	setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	struct tp_sink *sink = open_on(fd[0]);
	size_t size = 4 << 20, len = 0;
	char *got = malloc(size);
	for (int i = 0; i < 200; i++) {
		trace_sample_text(text);
		ssize_t n = recv(fd[1], got + len, (size_t)(1 + i * 37 % 5000), MSG_DONTWAIT);
		len += n > 0 ? (size_t)n : 0;
	}
	unsigned long lost;
	do { /* the sink completes a line when there is another one */
		for (ssize_t n; (n = recv(fd[1], got + len, size - len - 1, MSG_DONTWAIT)) > 0;)
			len += (size_t)n;
		got[len] = '\0';
		lost = tp_sink_lost(sink);
		trace_sample_int(7);
		nr++;
	} while (tp_sink_lost(sink) > lost && nr < 1000);
	for (ssize_t n; (n = recv(fd[1], got + len, size - len - 1, MSG_DONTWAIT)) > 0;)
		len += (size_t)n;
	got[len] = '\0';
	ck_assert_contains(got + len - 20, "value=7\n");
	const unsigned int whole = whole_lines(got);
	ck_assert_uint_eq(whole + tp_sink_lost(sink), 200 + nr);
	ck_assert_uint_ge(count_of(got, "sample_text"), 1);
	for (const char *at = got; (at = strstr(at, "sample_text: ")); at++) {
		const char *x = strstr(at, "xxx");
		ck_assert_uint_eq(strspn(x, "x"), 60000);
	}
	free(got);
	free(text);
	tp_sink_close(sink);
}

/* ---- By name ---- */

static char path[108];

/* Listens at a new path; of SOCK_DGRAM, the socket is the one to read from. */
static int listener(int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(path, sizeof(path), "%s/socket", temp_dir());
	strcpy(address.sun_path, path);
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (type != SOCK_DGRAM)
		ck_assert_int_eq(listen(fd, 2), 0);
	return fd;
}

static int connection(int listening, int type)
{
	return type == SOCK_DGRAM ? dup(listening) : accept(listening, NULL, NULL);
}

static struct tp_sink *open_path(void)
{
	return enabled(tp_text_socket_sink(path));
}

LOOP_TEST(listeners, 3)
{
	int fd = listener(socket_types[_i]);
	struct tp_sink *sink = open_path();

	trace_sample_int(1);
	int reader = connection(fd, socket_types[_i]);
	ck_assert_contains(all_of(reader), "value=1\n");
	close(reader);
	close(fd);
	capture_stderr();
	trace_sample_int(2);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 1);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *messages = captured_stderr();
	ck_assert_lacks(messages, "writing failed");
	free(messages);
}

TEST(no_listener)
{
	char long_path[200];

	ck_assert_ptr_null(tp_text_socket_sink("/nowhere/socket"));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(tp_text_socket_sink("/dev/null"));
	ck_assert_int_eq(errno, ECONNREFUSED);
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	ck_assert_ptr_null(tp_text_socket_sink(long_path));
	ck_assert_int_eq(errno, ENAMETOOLONG);
	int fd = listener(SOCK_SEQPACKET);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_nonnull(tp_text_socket_sink(path));
	errno = 0;
	ck_assert_ptr_null(tp_text_socket_sink(path)); /* the backlog is full: nobody waits for an accept() */
	ck_assert_int_eq(errno, EAGAIN);
	close(fd);
}

/* A daemon closes all descriptors: the sink connects again, but not to a listener of another kind. */
LOOP_TEST(closed_and_connected_again, 3)
{
	const int type = socket_types[_i];
	int fd = listener(type);
	const int next = dup(0);
	close(next);
	struct tp_sink *sink = open_path();
	trace_sample_int(1);
	int reader = connection(fd, type);
	ck_assert_contains(all_of(reader), "value=1\n");
	close(reader);
	struct stat st;
	ck_assert_int_eq(fstat(next, &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	close(next);
	int zero = open("/dev/zero", O_WRONLY);
	ck_assert_int_eq(zero, next);
	trace_sample_int(2);
	reader = connection(fd, type);
	ck_assert_contains(all_of(reader), "value=2\n");
	ck_assert_uint_eq(tp_sink_lost(sink), 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(close(zero), 0);
	close(reader);
	close(fd);
}

/* ---- Threads ---- */

static void *hit(void *unused)
{
	for (int i = 0; i < 2000; i++)
		trace_sample_text(i % 2 ? "a short one" : "one that is somewhat longer than the others are, if not by much");
	return unused;
}

LOOP_TEST(threads, 3)
{
	enum { NR = 4 };
	pthread_t thread[NR];
	unsigned int nr = 0;
	int fd[2];

	socket_pair(socket_types[_i], fd);
	struct tp_sink *sink = open_on(fd[0]);
	for (int i = 0; i < NR; i++)
		pthread_create(&thread[i], NULL, hit, NULL);
	for (int i = 0; i < 100; i++)
		nr += _i == 2 ? 0 : whole_lines(all_of(fd[1]));
	for (int i = 0; i < NR; i++)
		pthread_join(thread[i], NULL);
	nr += whole_lines(all_of(fd[1]));
	ck_assert_uint_eq(nr + tp_sink_lost(sink), NR * 2000);
	tp_sink_close(sink);
}
