/* SPDX-License-Identifier: MIT */
/* test_switch.c - sinks that are off: they take no record, and lose none. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf_fixture.h"
#include "list_sink.h"
#include "record/record.h"
#include "sample.h"
#include "util.h"

TEST(says_what_it_has_changed)
{
	struct list_sink s;

	open_list_sink(&s);
	ck_assert(tp_sink_is_on(&s.head));
	ck_assert(!tp_sink_switch(&s.head, true));
	ck_assert(tp_sink_switch(&s.head, false));
	ck_assert(!tp_sink_is_on(&s.head));
	ck_assert(!tp_sink_switch(&s.head, false));
	ck_assert(tp_sink_switch(&s.head, true));
	ck_assert(tp_sink_is_on(&s.head));
	tp_sink_close(&s.head);
}

/* With and without a filter; what is enabled meanwhile counts when the sink is on again. */
LOOP_TEST(takes_no_record, 2)
{
	struct list_sink s;

	open_list_sink(&s);
	tp_enable_if(&s.head, "sample_int", _i ? "value == 1" : NULL, NULL);
	ck_assert_hits(&s, "sample_int ");
	tp_sink_switch(&s.head, false);
	ck_assert_hits(&s, "");
	tp_enable(&s.head, "sample_text");
	ck_assert_hits(&s, "");
	tp_sink_switch(&s.head, true);
	ck_assert_hits(&s, "sample_int sample_text ");
	ck_assert_uint_eq(tp_sink_lost(&s.head), 0);
	tp_sink_close(&s.head);
}

/* One that is too long is lost by a sink that is on. */
TEST(loses_none)
{
	char *text = malloc(TP_RECORD_MAX + 1);
	struct list_sink s;

	memset(text, 'x', TP_RECORD_MAX);
	text[TP_RECORD_MAX] = '\0';
	open_list_sink(&s);
	tp_enable(&s.head, "sample_text");
	tp_sink_switch(&s.head, false);
	trace_sample_text(text);
	ck_assert_uint_eq(tp_sink_lost(&s.head), 0);
	tp_sink_switch(&s.head, true);
	trace_sample_text(text);
	ck_assert_uint_eq(tp_sink_lost(&s.head), 1);
	tp_sink_close(&s.head);
	free(text);
}

/* ---- CTF, whose records go a short way ---- */

static void *record_in_thread(void *unused)
{
	record(100, 103);
	return unused;
}

FIXTURE(setup, NULL)

TEST(ctf)
{
	struct tp_sink *sink = open_sink(NULL);
	pthread_t thread;

	record(0, 3);
	tp_sink_switch(sink, false);
	record(10, 13);
	pthread_create(&thread, NULL, record_in_thread, NULL);
	pthread_join(thread, NULL);
	tp_sink_switch(sink, true);
	record(20, 23);
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "sample_int"), 6);
	ck_assert_lacks(text, "value = 10");
	ck_assert_lacks(text, "discarded");
	free(text);
}

/* The key of a sink becomes another one: the child's, and that of the next chapter. */
TEST(ctf_in_a_child)
{
	struct tp_sink *sink = open_sink(NULL);
	int status;

	tp_sink_switch(sink, false);
	pid_t child = fork();
	if (child == 0) {
		const bool off = !tp_sink_is_on(sink);
		record(0, 3);
		tp_sink_switch(sink, true);
		record(10, 13);
		_exit(off && tp_sink_is_on(sink) ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert(!tp_sink_is_on(sink));
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "sample_int"), 3);
	ck_assert_contains(text, "value = 10");
	free(text);
}

TEST(ctf_told_of_more_events)
{
	struct tp_sink *sink = open_sink(NULL);
	struct sample_module m;

	tp_sink_switch(sink, false);
	sample_module_init(&m, "later", "later_event", "int value");
	tp_module_load(&m.module);
	tp_enable(sink, "later:*");
	sample_module_hit(&m, 1);
	record(0, 3);
	ck_assert(!tp_sink_is_on(sink));
	tp_sink_switch(sink, true);
	sample_module_hit(&m, 2);
	tp_module_unload(&m.module);
	char *text = close_and_read(sink);
	ck_assert_uint_eq(count_of(text, "sample_int"), 0);
	ck_assert_uint_eq(count_of(text, "later_event"), 1);
	free(text);
}

/* ---- While threads record ---- */

#define NR_THREADS 2

static struct tp_sink *storm_sink;
static bool end;

static void *hit_all_the_time(void *unused)
{
	while (!__atomic_load_n(&end, __ATOMIC_RELAXED))
		record(0, 10);
	return unused;
}

static void switch_in_handler(int sig)
{
	tp_sink_switch(storm_sink, sig == SIGUSR1);
}

/* Each switch by a handler, at any place of a record; nothing is lost, and the trace is whole. */
TEST(storm)
{
	pthread_t threads[NR_THREADS];

	storm_sink = open_sink("packet=4K,mode=flight,size=1M");
	signal(SIGUSR1, switch_in_handler);
	signal(SIGUSR2, switch_in_handler);
	end = false;
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, hit_all_the_time, NULL);
	for (int i = 0; i < 2000; i++)
		pthread_kill(threads[i / 2 % NR_THREADS], i % 2 ? SIGUSR1 : SIGUSR2);
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(tp_sink_lost(storm_sink), 0);
	free(close_and_read(storm_sink));
}
