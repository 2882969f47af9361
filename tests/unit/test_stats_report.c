/* SPDX-License-Identifier: MIT */
/* test_stats_report.c - statistics without a file; reports of those with and without. */
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "base/text.h"
#include "sample.h"
#include "test_stats.h"

static struct tp_sink *open_without(const char *options)
{
	struct tp_sink *sink = tp_stats_sink_without_file("the operator's", options);

	ck_assert_ptr_nonnull(sink);
	ck_assert_int_ge(tp_enable(sink, "*"), 3);
	return sink;
}

static struct tp_buffer report_of(struct tp_sink *sink, bool json)
{
	struct tp_buffer b = {.text = NULL};

	ck_assert_int_eq(tp_stats_report(sink, json, &b), 0);
	ck_assert_ptr_nonnull(b.text);
	return b;
}

static unsigned int threads_of_process(void)
{
	return count_files("/proc/self/task", "") - 2;
}

static unsigned int descriptors(void)
{
	return count_files("/proc/self/fd", "");
}

FIXTURE(setup_file, NULL)

TEST(counts)
{
	const unsigned int threads = threads_of_process(), open = descriptors();
	struct tp_sink *sink = open_without("json,by=thread,field=sample:sample_int.value,top=3");

	ck_assert_uint_eq(threads_of_process(), threads);
	ck_assert_uint_eq(descriptors(), open);
	for (int i = 0; i < 12; i++)
		trace_sample_int(i);
	struct tp_buffer b = report_of(sink, true);
	ck_assert_contains(b.text, "\"event\": \"sample:sample_int\", \"hits\": 12");
	ck_assert_contains(b.text, "\"max\": 11");
	tp_buffer_free(&b);
	trace_sample_int(12);
	b = report_of(sink, false);
	ck_assert_contains(b.text, "sample:sample_int");
	ck_assert_contains(b.text, " 13 ");
	ck_assert_lacks(b.text, "\"event\"");
	/* It is appended. */
	const size_t len = b.len;
	ck_assert_int_eq(tp_stats_report(sink, false, &b), 0);
	ck_assert_uint_gt(b.len, len);
	tp_buffer_free(&b);
	ck_assert_int_eq(tp_stats_write(sink), -EINVAL);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_ne(access("the operator's", F_OK), 0);
}

TEST(of_one_with_a_file)
{
	struct tp_sink *sink = open_sink("json,interval=0");

	trace_sample_int(1);
	struct tp_buffer b = report_of(sink, false);
	ck_assert_contains(b.text, "sample:sample_int");
	tp_buffer_free(&b);
	ck_assert_int_eq(hits("sample_int"), -1); /* the file is as it was */
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 1);
}

/* The file gets what a report has taken, too. */
TEST(the_file_goes_on)
{
	struct tp_sink *sink = open_sink("json,interval=0.05");

	trace_sample_int(1);
	struct tp_buffer b = report_of(sink, true);
	tp_buffer_free(&b);
	ck_assert(comes_to(1));
	tp_sink_close(sink);
}

TEST(forked_child)
{
	struct tp_sink *sink = open_without("json");
	const unsigned int threads = threads_of_process(); /* an emulator has one of its own */
	int status;

	trace_sample_int(1);
	pid_t child = fork();
	if (child == 0) {
		trace_sample_int(2);
		trace_sample_int(3);
		struct tp_buffer b = report_of(sink, true);
		ck_assert_contains(b.text, "\"event\": \"sample:sample_int\", \"hits\": 2");
		ck_assert_uint_eq(threads_of_process(), threads);
		_exit(tp_sink_close(sink) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	struct tp_buffer b = report_of(sink, true);
	ck_assert_contains(b.text, "\"event\": \"sample:sample_int\", \"hits\": 1");
	tp_buffer_free(&b);
	tp_sink_close(sink);
}

static const char *const refused[] = {"interval=0", "interval=1", "children=end", "json,children=live", "what", "top=0"};

LOOP_TEST(refused_options, 6)
{
	capture_stderr();
	errno = 0;
	ck_assert_ptr_null(tp_stats_sink_without_file("the operator's", refused[_i]));
	ck_assert_int_eq(errno, EINVAL);
	char *messages = captured_stderr();
	ck_assert_uint_eq(count_of(messages, "\n"), 1);
	ck_assert_contains(messages, "tp: statistics 'the operator's': ");
	ck_assert_contains(messages, "there are no statistics\n");
	free(messages);
}

TEST(no_statistics)
{
	struct tp_buffer b = {.text = NULL};

	ck_assert_int_eq(tp_stats_report(NULL, false, &b), -EINVAL);
	struct tp_sink *sink = tp_text_sink(stderr);
	ck_assert_int_eq(tp_stats_report(sink, false, &b), -EINVAL);
	ck_assert_uint_eq(b.len, 0);
	tp_sink_close(sink);
	ck_assert_ptr_null(tp_stats_sink_without_file(NULL, NULL));
	ck_assert_int_eq(errno, EINVAL);
}
