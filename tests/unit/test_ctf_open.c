/* SPDX-License-Identifier: MIT */
/* test_ctf_open.c - opening a CTF output: directories that it can't have. Its options are in test_ctf_options.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/file.h"
#include "ctf_fixture.h"
#include "sample.h"
#include "util.h"

FIXTURE(setup, NULL)

TEST(bad_directories)
{
	char path[256];

	fails_with(NULL, EINVAL);
	fails_with("", ENOENT);
	fails_with("/proc/nowhere", ENOENT);
	fails_with("/dev/null", ENOTDIR);
	snprintf(path, sizeof(path), "%s/a/b", trace);
	fails_with(path, ENOENT);
	snprintf(path, sizeof(path), "%s.link", trace);
	ck_assert_int_eq(symlink("/tmp", path), 0);
	fails_with(path, ELOOP);
	strcat(path, "//");
	fails_with(path, ELOOP);
}

TEST(unwritable_directory)
{
	ck_assert_int_eq(mkdir(trace, 0500), 0);
	pid_t child = fork();
	if (child == 0) {
		struct tp_sink *sink;
		if (geteuid() == 0 && (chown(trace, 65534, 65534) != 0 || seteuid(65534) != 0))
			_exit(2);
		sink = tp_ctf_sink(trace, NULL);
		_exit(!sink && errno == EACCES ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}

TEST(trace_in_it_already)
{
	struct tp_sink *sink = open_sink(NULL);

	fails_with(trace, EEXIST);
	trace_sample_int(1);
	fails_with(trace, EEXIST);
	tp_sink_close(sink);
	/* Nobody writes to it any more: it makes way. */
	tp_sink_close(open_sink(NULL));
	char path[256];
	snprintf(path, sizeof(path), "%s.1", trace);
	char *text = clean_babeltrace(path); /* unharmed */
	ck_assert_uint_eq(count_of(text, "value = 1"), 1);
	free(text);
	/* Where that can't be told, it stays. */
	snprintf(path, sizeof(path), "%s/.lock", trace);
	ck_assert_int_eq(unlink(path), 0);
	fails_with(trace, EEXIST);
}

TEST(other_files_in_it)
{
	char path[256];

	ck_assert_int_eq(mkdir(trace, 0700), 0);
	put_file("notes.txt");
	fails_with(trace, ENOTEMPTY);
	ck_assert_uint_eq(count_files(trace, "metadata"), 0);
	snprintf(path, sizeof(path), "%s/notes.txt", trace);
	unlink(path);
	/* What readers pass over, and what a process with this one's id has left. */
	put_file(".notes");
	put_file(".metadata");
	snprintf(path, sizeof(path), ".metadata-%d", getpid());
	put_file(path);
	snprintf(path, sizeof(path), "%s/sub", trace);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	struct tp_sink *sink = open_sink(NULL);
	trace_sample_int(1);
	tp_sink_close(sink);
	char *text = clean_babeltrace(trace);
	ck_assert_uint_eq(count_of(text, "value = 1"), 1);
	free(text);
}

TEST(directory_is_private_and_without_an_event)
{
	struct stat st;

	tp_sink_close(open_sink(NULL));
	ck_assert_int_eq(stat(trace, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	free(clean_babeltrace(trace));
}

TEST(sixteen_sinks)
{
	struct tp_sink *sinks[16];
	char path[256];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 16; i++) {
			snprintf(path, sizeof(path), "%s-%d-%d", trace, round, i);
			sinks[i] = tp_ctf_sink(path, "packet=8K");
			ck_assert_ptr_nonnull(sinks[i]);
			tp_enable(sinks[i], "sample_int");
		}
		snprintf(path, sizeof(path), "%s-%d-16", trace, round);
		fails_with(path, EMFILE);
		trace_sample_int(round);
		for (int i = 0; i < 16; i++)
			ck_assert_int_eq(tp_sink_close(sinks[i]), 0);
	}
	for (int i = 0; i < 32; i++) {
		snprintf(path, sizeof(path), "%s-%d-%d", trace, i / 16, i % 16);
		char *text = clean_babeltrace(path);
		ck_assert_uint_eq(count_of(text, "value = "), 1);
		free(text);
	}
}

/* There the runtime does not look whose a descriptor is by now: it closes none that it has closed before. */
TEST(used_up_in_a_sandbox)
{
	const struct rlimit few = {.rlim_cur = 64, .rlim_max = 64};
	unsigned int nr = 0, gone = 0;
	int own[64];

	tp_sandboxed = true;
	struct tp_sink *sink = open_sink("packet=4K");
	trace_sample_int(0);
	setrlimit(RLIMIT_NOFILE, &few);
	capture_stderr();
	for (int round = 0; round < 4; round++) {
		for (int fd; (fd = dup(STDIN_FILENO)) >= 0;)
			own[nr++] = fd;
		record(0, 2 * PER_PACKET);
		for (unsigned int i = 0; i < nr; i++)
			gone += fcntl(own[i], F_GETFD) < 0;
		usleep(100000); /* it is tried again then */
	}
	while (nr > 0)
		close(own[--nr]);
	free(captured_stderr());
	ck_assert_uint_eq(gone, 0);
	capture_stderr();
	tp_sink_close(sink);
	free(captured_stderr());
	free(clean_babeltrace(trace));
}
