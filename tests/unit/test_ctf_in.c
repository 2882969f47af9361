/* SPDX-License-Identifier: MIT */
/* test_ctf_in.c - traces and snapshots in directories that were passed: by a descriptor, and never by a path. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "sample.h"
#include "sinks/ctf/ctf.h"
#include "util.h"

#define NAME "the operator's/trace"

/* The empty directory trace. */
static int make_dir(void)
{
	ck_assert_int_eq(mkdir(trace, 0700), 0);
	int fd = open(trace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static struct tp_sink *open_in(int dir, const char *options)
{
	struct tp_sink *sink = tp_ctf_sink_in(dir, NAME, options);

	ck_assert_msg(sink != NULL, "%s", strerror(errno));
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

static void fails_in(int dir, const char *options, int error)
{
	errno = 0;
	ck_assert_ptr_null(tp_ctf_sink_in(dir, NAME, options));
	ck_assert_int_eq(errno, error);
	ck_assert_int_lt(fcntl(dir, F_GETFD), 0);
}

FIXTURE(setup, NULL)

TEST(records)
{
	const int dir = make_dir();
	struct tp_sink *sink = open_in(dir, "packet=4K");

	ck_assert_int_eq(fcntl(dir, F_GETFD), FD_CLOEXEC);
	record(0, 3 * PER_PACKET);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_lt(fcntl(dir, F_GETFD), 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 3 * PER_PACKET);
	free(text);
}

/* "%p" is nothing special, and the path that the directory had leads elsewhere by now. */
TEST(moved_away)
{
	char elsewhere[160];
	const int dir = make_dir();

	snprintf(elsewhere, sizeof(elsewhere), "%s-moved", trace);
	ck_assert_int_eq(rename(trace, elsewhere), 0);
	struct tp_sink *sink = tp_ctf_sink_in(dir, "%p", "packet=4K");
	ck_assert_ptr_nonnull(sink);
	tp_enable(sink, "*");
	record(0, 3 * PER_PACKET);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_ne(access(trace, F_OK), 0);
	char *text = clean_babeltrace(elsewhere);
	ck_assert_uint_eq(count_of(text, "value = "), 3 * PER_PACKET);
	free(text);
}

static const char *const in_it[] = {"notes", ".hidden", ".lock"};

LOOP_TEST(not_empty, 3)
{
	int dir = make_dir();

	put_file(in_it[_i]);
	fails_in(dir, NULL, ENOTEMPTY);
	put_file("metadata");
	fails_in(open(trace, O_RDONLY | O_DIRECTORY), NULL, EEXIST);
	ck_assert_uint_eq(count_files(trace, ""), 4); /* nothing was made, nor taken away */
}

TEST(no_directory)
{
	fails_in(-1, NULL, EBADF);
	fails_in(open("/dev/null", O_RDWR), NULL, ENOTDIR);
	int dir = make_dir();
	ck_assert_ptr_null(tp_ctf_sink_in(dir, NULL, NULL));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_lt(fcntl(dir, F_GETFD), 0);
}

static const char *const refused[] = {"rotate=1G", "keep=3", "owner=0", "mode=flight,keep=1", "what", "packet=1"};

LOOP_TEST(refused_options, 6)
{
	int dir = make_dir();

	capture_stderr();
	fails_in(dir, refused[_i], EINVAL);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "\n"), 1);
	ck_assert_contains(messages, "tp: CTF trace '" NAME "': ");
	ck_assert_contains(messages, "there is no trace\n");
	free(messages);
	ck_assert_uint_eq(count_files(trace, ""), 2);
}

/* Nothing is opened again, neither by the old path nor by the name. */
TEST(closed_by_the_program)
{
	struct stat of_dir, st;
	struct tp_sink *sink = open_in(make_dir(), "packet=4K");

	record(0, PER_PACKET);
	capture_stderr();
	ck_assert_int_eq(stat(trace, &of_dir), 0);
	for (int fd = 0; fd < 64; fd++) {
		if (fstat(fd, &st) == 0 && st.st_ino == of_dir.st_ino && st.st_dev == of_dir.st_dev)
			close(fd);
	}
	record(0, 5 * PER_PACKET);
	ck_assert_uint_gt(tp_sink_lost_by(sink, TP_LOST_NO_FILE), 0);
	ck_assert_uint_eq(tp_sink_lost_by(sink, TP_LOST_NO_FILE), tp_sink_lost(sink));
	const unsigned long lost = tp_sink_lost(sink);
	ck_assert_int_eq(tp_sink_close(sink), -EBADF);
	char *messages = captured_stderr();
	ck_assert_contains(messages, "CTF trace '" NAME "': no new packet of 4096 bytes can be made: Bad file descriptor");
	free(messages);
	int status;
	char *text = babeltrace(trace, &status);
	ck_assert_uint_ge(count_of(text, "value = ") + lost, 6 * PER_PACKET);
	free(text);
}

TEST(forked_child)
{
	int status;
	struct tp_sink *sink = open_in(make_dir(), "packet=4K");

	trace_sample_int(1);
	pid_t child = fork();
	if (child == 0) {
		trace_sample_int(2);
		_exit(tp_sink_close(sink) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	trace_sample_int(3);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 3);
	free(text);
}

static int copy_dir(char path[160])
{
	snprintf(path, 160, "%s-copy", trace);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	return open(path, O_RDONLY | O_DIRECTORY);
}

TEST(snapshot)
{
	char path[160];
	struct tp_sink *sink = open_in(make_dir(), "mode=flight,packet=4K,packets=8");

	record(0, 2 * PER_PACKET);
	int dir = copy_dir(path);
	ck_assert_int_eq(tp_ctf_snapshot_in(sink, dir, "copy"), 0);
	ck_assert_int_lt(fcntl(dir, F_GETFD), 0);
	char *text = clean_babeltrace(path);
	ck_assert_uint_eq(count_of(text, "value = "), 2 * PER_PACKET);
	free(text);
	dir = open(path, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(tp_ctf_snapshot_in(sink, dir, "copy"), -EEXIST);
	ck_assert_int_lt(fcntl(dir, F_GETFD), 0);
	ck_assert_int_eq(tp_ctf_snapshot_in(sink, -1, "copy"), -EBADF);
	ck_assert_int_eq(tp_ctf_snapshot_in(sink, open("/dev/null", O_RDWR), "copy"), -ENOTDIR);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = "), 2 * PER_PACKET);
	free(text);
}

TEST(snapshot_refused)
{
	char path[160];
	struct tp_sink *sink = open_in(make_dir(), NULL);
	int dir = copy_dir(path);

	const int given[] = {dup(dir), dup(dir), dup(dir)};
	ck_assert_int_eq(tp_ctf_snapshot_in(sink, given[0], "copy"), -ENOTSUP);
	ck_assert_int_eq(tp_ctf_snapshot_in(NULL, given[1], "copy"), -EINVAL);
	ck_assert_int_eq(tp_ctf_snapshot_in(sink, given[2], NULL), -EINVAL);
	for (size_t i = 0; i < NR_OF(given); i++)
		ck_assert_int_eq(fcntl(given[i], F_GETFD), -1);
	ck_assert_uint_eq(count_files(path, ""), 2);
	close(dir);
	tp_sink_close(sink);
}
