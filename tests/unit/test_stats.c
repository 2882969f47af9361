/* SPDX-License-Identifier: MIT */
/*
 * test_stats.c - the statistics output: what is counted, in threads and handlers
 * too, and when it is in the file. Children are in test_stats_children.c, and what a field's values
 * come to is in test_stats_field.c.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "sample.h"
#include "sinks/stats/stats.h"
#include "test_stats.h"
#include "util.h"

/* ---- One thread ---- */

FIXTURE(setup_file, NULL)

TEST(hits_and_intervals)
{
	struct tp_sink *sink = open_sink("json,interval=0");

	file_has("\"events\": []}\n");
	ck_assert_int_eq(hits("sample_int"), -1);
	trace_sample_int(1);
	usleep(20000);
	trace_sample_int(2);
	trace_sample_int(3);
	trace_sample_text("x");
	ck_assert_int_eq(tp_stats_write(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 3);
	ck_assert_int_eq(hits("sample_text"), 1);
	ck_assert_int_eq(hits("sample_kinds"), -1);
	ck_assert_int_eq(number_in(file, "sample_int", "intervals"), 2);
	long long min = number_in(file, "sample_int", "interval_min_ns");
	long long mean = number_in(file, "sample_int", "interval_mean_ns");
	long long max = number_in(file, "sample_int", "interval_max_ns");
	long long first = number_in(file, "sample_int", "first_ns"), last = number_in(file, "sample_int", "last_ns");
	ck_assert_int_ge(max, 19900000); /* as usleep sleeps by another clock */
	ck_assert_int_lt(min, max);
	ck_assert(llabs(mean * 2 - min - max) < 10);
	ck_assert(llabs(last - first - min - max) < 10);
	ck_assert_int_le(number_in(file, "", "begin_ns"), first);
	ck_assert_int_ge(number_in(file, "", "time_ns"), last);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	file_has("\"final\": true");
	ck_assert_int_eq(hits("sample_int"), 3);
}

/* What was written is not counted again, and intervals go on. */
TEST(writing_often)
{
	struct tp_sink *sink = open_sink("json,interval=0,field=sample_int.value");

	for (int i = 1; i <= 100; i++) {
		trace_sample_int(i);
		ck_assert_int_eq(tp_stats_write(sink), 0);
		ck_assert_int_eq(hits("sample_int"), i);
		ck_assert_int_eq(number_in(file, "sample_int", "intervals"), i - 1);
		ck_assert_int_eq(number_in(file, "\"field\": \"value\"", "sum"), i * (i + 1) / 2);
	}
	ck_assert_int_eq(tp_sink_close(sink), 0);
}

TEST(disabled_and_enabled_again)
{
	struct tp_sink *sink = open_sink("json,interval=0");

	trace_sample_int(1);
	ck_assert_int_eq(tp_disable(sink, "sample_int"), 1);
	trace_sample_int(2);
	ck_assert_int_eq(tp_enable(sink, "sample_int"), 1);
	trace_sample_int(3);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 2);
}

static void hit_kinds(void)
{
	static const uint32_t none;
	static const struct sample_point nowhere;
	struct sample_values v = {
		.s8 = -7, .u64 = UINT64_MAX, .flag = true, .single = 0.5f, .wide = -2.25, .level = 2, .comm = "comm",
		.text = "a \"text\"\n\xff", .last = "", .pointer = &v,
		.bytes = (const uint8_t *)"", .words = &none, .points = &nowhere,
	};

	trace_sample_kinds(&v);
	v.level = -1;
	trace_sample_kinds(&v);
	trace_sample_kinds(&v);
}

TEST(fields_of_each_kind)
{
	capture_stderr();
	struct tp_sink *sink = open_sink("json,interval=0,field=*.s8+*.event+*.flag+*.align+*.wide+*.level+*.comm+"
					 "*.string+*.clock+*.numbers+*.nothing");

	hit_kinds();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *said = captured_stderr();
	ck_assert_contains(said, "sample_kinds.clock is not counted: only numbers, strings and arrays of char can be\n");
	ck_assert_contains(said, "sample:sample_kinds.numbers is not counted");
	ck_assert_contains(said, "field=*.nothing: the event has no such field\n");
	ck_assert_uint_eq(count_of(said, "\n"), 3);
	free(said);
	file_has("{\"field\": \"s8\", \"kind\": \"integer\", \"count\": 3, \"sum\": -21, \"min\": -7, \"max\": -7, "
		 "\"mean\": -7,\n     \"histogram\": [{\"from\": -4, \"to\": -7, \"count\": 3}]}");
	file_has("{\"field\": \"event\", \"kind\": \"integer\", \"count\": 3, \"sum\": 55340232221128654845, ");
	file_has("{\"field\": \"flag\", \"kind\": \"integer\", \"count\": 3, \"sum\": 3, \"min\": 1, ");
	file_has("{\"field\": \"align\", \"kind\": \"float\", \"count\": 3, \"nan\": 0, \"infinite\": 0, "
		 "\"negative_infinite\": 0, \"min\": 0.5, \"max\": 0.5, \"sum\": 1.5, \"mean\": 0.5,\n     "
		 "\"histogram\": [{\"from\": 0.5, \"to\": 1, \"count\": 3}]}");
	file_has("{\"field\": \"wide\", \"kind\": \"float\", \"count\": 3, \"nan\": 0, \"infinite\": 0, "
		 "\"negative_infinite\": 0, \"min\": -2.25, \"max\": -2.25, \"sum\": -6.75, ");
	file_has("\"top\": [{\"value\": -1, \"name\": \"NONE\", \"count\": 2},\n      "
		 "{\"value\": 2, \"name\": \"\\\"HIGH\\\"\", \"count\": 1}]");
	file_has("{\"value\": \"comm\", \"length\": 4, \"count\": 3}");
	file_has("{\"value\": \"a \\\"text\\\"\\u000a\\\\xff\", \"length\": 10, \"count\": 3}");
}

TEST(text_for_people)
{
	struct tp_sink *sink = open_sink("interval=0,by=thread,field=*.s8+*.level+*.string+sample_int.value");

	hit_kinds();
	for (int i = 0; i < 10; i++)
		trace_sample_int(i);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	file_has("; ended\n\nEVENT                      HITS      RATE/s         MIN        MEAN         MAX  FIRST");
	file_has("\nsample:sample_int            10  ");
	file_has("\nsample:sample_kinds           3  ");
	file_has("\nsample:sample_int.value: count 10, sum 45, min 0, mean 4.5, max 9\n");
	file_has("\n                                       0 .. 0           1 **********\n");
	file_has("                                       4 .. 7           4 ****************************************\n");
	file_has("\nsample:sample_kinds.level: count 3, distinct 2\n");
	file_has("                     \"a \"text\"\\n\\xff\"           3 ****");
	file_has("\nEVENT                     TID  THREAD                 HITS  ");
}

/* ---- Threads ---- */

#define NR_THREADS 4
#define PER_THREAD 20000

static void *counter(void *number)
{
	static const char *const texts[] = {"none", "one", "two", "three"};

	for (int i = 0; i < PER_THREAD; i++) {
		trace_sample_int((int)(uintptr_t)number);
		trace_sample_text(texts[(uintptr_t)number]);
	}
	return NULL;
}

TEST(many_threads)
{
	pthread_t threads[NR_THREADS];
	struct tp_sink *sink = open_sink("json,interval=0,by=thread,field=*.value+*.text");
	long long before = -1;

	for (uintptr_t i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, counter, (void *)i);
	/* Who is seen to have hit has its value there. */
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(tp_stats_write(sink), 0);
		long long now = hits("sample_int");
		ck_assert_int_ge(now, before);
		if (now > 0)
			ck_assert_int_ge(number_in(file, "\"field\": \"value\"", "count"), now);
		before = now;
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), NR_THREADS * PER_THREAD);
	ck_assert_int_eq(hits("sample_text"), NR_THREADS * PER_THREAD);
	ck_assert_int_eq(number_in(file, "sample_int", "intervals"), NR_THREADS * (PER_THREAD - 1));
	ck_assert_int_eq(number_in(file, "\"field\": \"value\"", "sum"), (0 + 1 + 2 + 3) * PER_THREAD);
	char *text = read_file(file);
	ck_assert_uint_eq(count_of(text, "\"tid\": "), 2 * NR_THREADS);
	ck_assert_uint_eq(count_of(text, "\"exited\": true, \"hits\": 20000,"), 2 * NR_THREADS);
	ck_assert_contains(text, "{\"value\": \"three\", \"length\": 5, \"count\": 20000}");
	free(text);
}

static void *short_life(void *unused)
{
	prctl(PR_SET_NAME, "short");
	trace_sample_int(1);
	trace_sample_int(2);
	return unused;
}

#define NR_SHORT (TP_STATS_EXITED + 500)

/* 0: in one sum; 1: by thread. Memory is used again. */
LOOP_TEST(short_threads, 2)
{
	pthread_t thread;
	struct tp_sink *sink = open_sink(_i ? "json,interval=0,by=thread" : "json,interval=0");

	for (int i = 0; i < NR_SHORT; i++) {
		ck_assert_int_eq(pthread_create(&thread, NULL, short_life, NULL), 0);
		pthread_join(thread, NULL);
	}
	ck_assert_uint_eq(((struct tp_stats_sink *)sink)->nr_shares, _i ? TP_STATS_EXITED : 0u);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 2 * NR_SHORT);
	ck_assert_int_eq(number_in(file, "sample_int", "intervals"), NR_SHORT);
	char *text = read_file(file);
	ck_assert_uint_eq(count_of(text, "\"name\": \"short\", \"exited\": true, \"hits\": 2,"),
			  _i ? TP_STATS_EXITED : 0u);
	ck_assert_uint_eq(count_of(text, "\"others\": true, \"hits\": 1000,"), _i ? 1u : 0u);
	free(text);
}

#if !defined(__aarch64__) && !defined(__arm__) /* the emulator that the tests run under there limits no memory */
/* As those of threads beyond the last row: whose hit was the one before is not known. */
TEST(hits_without_a_row)
{
	struct tp_sink *other = open_sink("json,interval=0,field=*.value"), *sink;
	struct rlimit limit;

	trace_sample_int(0); /* now the thread has all but a row of the next one */
	tp_sink_close(other);
	sink = open_sink("json,interval=0,by=thread,field=*.value");
	getrlimit(RLIMIT_AS, &limit);
	const struct rlimit none = {.rlim_cur = 1, .rlim_max = limit.rlim_max};
	setrlimit(RLIMIT_AS, &none);
	trace_sample_int(1);
	trace_sample_int(2);
	setrlimit(RLIMIT_AS, &limit);
	trace_sample_int(3);
	trace_sample_int(4);
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 4);
	ck_assert_int_eq(number_in(file, "sample_int", "intervals"), 1);
	ck_assert_int_eq(number_in(file, "\"field\": \"value\"", "sum"), 10);
	ck_assert_int_eq(number_in(file, "\"others\": true", "hits"), 2);
	ck_assert_int_eq(number_in(file, "\"others\": true", "intervals"), 0);
}
#endif

/* ---- When the file is written ---- */

TEST(written_while_it_runs)
{
	struct tp_sink *sink = open_sink("json,interval=0.01");

	trace_sample_int(1);
	ck_assert(comes_to(1));
	trace_sample_int(2);
	ck_assert(comes_to(2));
	unlink(file);
	usleep(100000);
	ck_assert_int_ne(access(file, F_OK), 0); /* there is nothing new */
	ck_assert_int_eq(tp_sink_close(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 2);
}

TEST(trouble_is_said_once)
{
	char moved[256], dir[192];
	struct tp_sink *sink = open_sink("json,interval=0.05");

	strcpy(dir, file);
	*strrchr(dir, '/') = '\0';
	snprintf(moved, sizeof(moved), "%s-moved", dir);
	ck_assert_int_eq(rename(dir, moved), 0);
	capture_stderr();
	trace_sample_int(1);
	ck_assert_int_eq(tp_stats_write(sink), -ENOENT);
	ck_assert_int_eq(tp_stats_write(sink), -ENOENT);
	char *said = captured_stderr();
	ck_assert_contains(said, "can't be written: No such file or directory; it is tried again and again\n");
	ck_assert_uint_eq(count_of(said, "\n"), 1);
	free(said);
	ck_assert_int_eq(rename(moved, dir), 0);
	ck_assert(comes_to(1)); /* what could not be written then */
	trace_sample_int(2);
	ck_assert_int_eq(tp_stats_write(sink), 0);
	ck_assert_int_eq(hits("sample_int"), 2);
	ck_assert_int_eq(tp_sink_close(sink), -ENOENT);
}

TEST(file_size_limit)
{
	struct rlimit limit = {.rlim_cur = 300, .rlim_max = RLIM_INFINITY};
	struct tp_sink *sink = open_sink("json,interval=0,by=thread");

	trace_sample_int(1);
	setrlimit(RLIMIT_FSIZE, &limit);
	capture_stderr();
	ck_assert_int_eq(tp_stats_write(sink), -EFBIG);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	free(captured_stderr());
	file_has("\"events\": []}"); /* as before */
	ck_assert_int_eq(tp_sink_close(sink), -EFBIG);
	ck_assert_int_eq(hits("sample_int"), 1);
}

/* What a thread is called looks like nothing else, and its column is as wide as ever. */
LOOP_TEST(names_are_escaped, 5)
{
	static const char *const names[][2] = {
		{"a\nb", "a\\nb          "},
		{"\t\x1b[1m\x7f", "\\x09\\x1b[1m\\x7f "},
		{"\\n", "\\\\n            "},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f           "},
		{"\xff\xc3", "\\xff\\xc3       "},
	};
	char row[64];

	prctl(PR_SET_NAME, names[_i][0]);
	struct tp_sink *sink = open_sink("interval=0,by=thread");
	trace_sample_int(1);
	strcpy(tp_program_name, "two\nlines");
	ck_assert_int_eq(tp_sink_close(sink), 0);
	snprintf(row, sizeof(row), "  %8d  %s  ", (int)getpid(), names[_i][1]);
	file_has(row);
	file_has("two\\nlines, process ");
}

/* ---- Modules ---- */

/* Its description is gone with it, its counts are not; and when it comes back, they go on. */
TEST(module_that_comes_and_goes)
{
	struct sample_module *module = malloc(sizeof(*module));
	char *name = strdup("visitor");
	struct tp_sink *sink = open_sink("json,interval=0,field=guest:*.value");

	for (int round = 1; round <= 2; round++) {
		sample_module_init(module, "guest", name, "int");
		tp_module_load(&module->module);
		sample_module_hit(module, 7);
		tp_module_unload(&module->module);
		memset(module, 0xee, sizeof(*module));
		ck_assert_int_eq(tp_stats_write(sink), 0);
		ck_assert_int_eq(number_in(file, "\"event\": \"guest:visitor\"", "hits"), round);
		ck_assert_int_eq(number_in(file, "\"field\": \"value\"", "sum"), 7 * round);
	}
	free(module);
	free(name);
	capture_stderr();
	ck_assert_int_eq(tp_sink_close(sink), 0);
	char *said = captured_stderr();
	ck_assert_str_eq(said, "");
	free(said);
}
