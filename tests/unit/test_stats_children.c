/* SPDX-License-Identifier: MIT */
/* test_stats_children.c - the statistics of forked children: from 0, in files of their own. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "sample.h"
#include "sinks/stats/stats.h"
#include "test_stats.h"
#include "util.h"

FIXTURE(setup_file, NULL)

TEST(forked_child)
{
	char own[256];
	struct tp_sink *sink = open_sink("json,interval=0,by=thread,field=*.value");
	int status;

	trace_sample_int(1);
	trace_sample_int(2);
	pid_t pid = fork();
	if (pid == 0) {
		if (fork() == 0) /* hits nothing, and leaves nothing */
			_exit(tp_sink_close(sink) == 0 ? 0 : 9);
		wait(&status);
		for (int i = 0; i < 5; i++)
			trace_sample_int(10);
		_exit(status == 0 && tp_stats_write(sink) == 0 && tp_sink_close(sink) == 0 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	trace_sample_int(3);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 3);
	ck_assert_int_eq(number_in(file, "\"field\": \"value\"", "sum"), 6);
	snprintf(own, sizeof(own), "%s.%d", file, (int)pid);
	ck_assert_int_eq(number_in(own, "sample_int", "hits"), 5);
	ck_assert_int_eq(number_in(own, "sample_int", "intervals"), 4);
	ck_assert_int_eq(number_in(own, "\"field\": \"value\"", "sum"), 50);
	ck_assert_int_eq(number_in(own, "", "pid"), pid);
	ck_assert_int_gt(number_in(own, "", "begin_ns"), number_in(file, "sample_int", "first_ns"));
	*strrchr(own, '/') = '\0';
	ck_assert_uint_eq(count_files(own, "stats"), 2);
	ck_assert_uint_eq(count_files(own, ".stats"), 0);
}

#ifndef __aarch64__ /* the emulator that the tests run under there does not survive a thread that comes in a fork */
static unsigned int threads_of_this_process(void)
{
	return count_files("/proc/self/task", "") - 2; /* "." and ".." */
}

static const struct {
	const char *options;
	unsigned int threads; /* of the child */
} live[] = {
	{"json,interval=0.01", 2},
	{"json,interval=0.01,children=end", 1},
	{"json,interval=0.01,children=live", 2},
	{"json,interval=0", 1},
};

/* Its file comes without a call of its own; and so does that of its own child. */
LOOP_TEST(a_thread_in_each_child, !under_sanitizer() ? 4 : 0)
{
	struct tp_sink *sink = open_sink(live[_i].options);
	int status;

	trace_sample_int(1);
	pid_t pid = fork();
	if (pid == 0) {
		bool well = fork() == 0 || (wait(&status) > 0 && status == 0);
		snprintf(file + strlen(file), 32, ".%d", (int)getpid());
		trace_sample_int(2);
		trace_sample_int(3);
		well = well && threads_of_this_process() == live[_i].threads;
		if (live[_i].threads == 2)
			well = well && comes_to(2) && tp_sink_close(sink) == 0;
		else
			well = well && access(file, F_OK) != 0;
		_exit(well ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 1);
}
#endif
