/* SPDX-License-Identifier: MIT */
/* test_armed.c - events that triggers switch: attached all the time, on or off. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "base/text.h"
#include "events/events.h"
#include "list_sink.h"
#include "sample.h"
#include "util.h"

static struct list_sink s;

static void open_it(void)
{
	open_list_sink(&s);
}

static void close_it(void)
{
	tp_sink_close(&s.head);
	ck_assert(!tp_tracepoint_is_on(&__tracepoint_sample_int));
}

static struct tp_armed *begin(const char *name)
{
	int error;
	struct tp_armed *armed = tp_armed_begin(&s.head, name, &error);

	ck_assert_ptr_nonnull(armed);
	ck_assert_int_eq(error, 0);
	return armed;
}

static bool is_armed(void)
{
	return tp_tracepoint_is_on(&__tracepoint_sample_int);
}

FIXTURE(open_it, close_it)

TEST(off_at_first)
{
	struct tp_armed *armed = begin("sample:sample_int");

	ck_assert(is_armed());
	ck_assert_hits(&s, "");
	ck_assert(tp_armed_switch(armed, true));
	ck_assert(!tp_armed_switch(armed, true));
	ck_assert_hits(&s, "sample_int ");
	ck_assert(tp_armed_switch(armed, false));
	ck_assert_hits(&s, "");
	tp_armed_end(&s.head, armed);
	ck_assert(!is_armed());
}

TEST(on_at_first)
{
	tp_enable(&s.head, "sample_int");
	struct tp_armed *armed = begin("sample:sample_int");

	ck_assert_hits(&s, "sample_int ");
	ck_assert(tp_armed_switch(armed, false));
	ck_assert_hits(&s, "");
	ck_assert(tp_armed_switch(armed, true));
	tp_armed_end(&s.head, armed);
	ck_assert_hits(&s, "sample_int ");
}

/* After the last trigger the event is what it was last, whatever was enabled before. */
TEST(stays_as_it_is)
{
	struct tp_armed *armed = begin("sample:sample_int");

	tp_armed_switch(armed, true);
	tp_armed_end(&s.head, armed);
	ck_assert_hits(&s, "sample_int ");
	armed = begin("sample:sample_int");
	tp_armed_switch(armed, false);
	tp_armed_end(&s.head, armed);
	ck_assert_hits(&s, "");
	ck_assert(!is_armed());
	ck_assert_int_eq(tp_enable(&s.head, "sample_int"), 1);
	ck_assert_int_eq(tp_disable(&s.head, "sample_int"), 1);
}

/* As the kernel's file "enable" does. */
TEST(enabled_and_disabled_meanwhile)
{
	struct tp_armed *armed = begin("sample:sample_int");

	ck_assert_int_eq(tp_enable(&s.head, "sample_*"), 3);
	ck_assert_hits(&s, "sample_int sample_text sample_kinds ");
	ck_assert_int_eq(tp_enable(&s.head, "sample_*"), 0);
	ck_assert_int_eq(tp_disable(&s.head, "*"), 3);
	ck_assert(is_armed());
	ck_assert_hits(&s, "");
	tp_armed_switch(armed, true);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_disable(&s.head, "sample_text"), 0);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_disable(&s.head, "sample_int"), 1);
	tp_armed_end(&s.head, armed);
	ck_assert(!is_armed());
}

TEST(with_a_filter)
{
	struct tp_armed *armed = begin("sample:sample_int");

	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "value == 1", NULL), 1);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "value == 2", NULL), 1);
	ck_assert_hits(&s, "");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "valeu == 2", NULL), -EINVAL);
	ck_assert_int_eq(tp_enable(&s.head, "sample_int"), 0);
	tp_armed_switch(armed, false);
	ck_assert_hits(&s, "");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "valeu == 2", NULL), -EINVAL);
	ck_assert_hits(&s, "");
	tp_armed_switch(armed, true);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "value == 1", NULL), 1);
	tp_armed_end(&s.head, armed);
	ck_assert_hits(&s, "sample_int ");
	ck_assert_int_eq(tp_enable_if(&s.head, "sample_int", "value == 3", NULL), 1);
	ck_assert_hits(&s, "");
}

TEST(several_triggers)
{
	struct tp_armed *one = begin("sample:sample_int"), *two = begin("sample:sample_int");

	ck_assert_ptr_eq(one, two);
	tp_armed_end(&s.head, one);
	ck_assert(is_armed());
	tp_armed_switch(two, true);
	ck_assert_hits(&s, "sample_int ");
	tp_armed_switch(two, false);
	tp_armed_end(&s.head, two);
	ck_assert(!is_armed());
}

/* A record that is too long is none of an event that is off. */
TEST(loses_none)
{
	struct tp_armed *armed = begin("sample:sample_text");
	char *text = malloc(TP_RECORD_MAX + 1);

	memset(text, 'x', TP_RECORD_MAX);
	text[TP_RECORD_MAX] = '\0';
	trace_sample_text(text);
	ck_assert_uint_eq(tp_sink_lost(&s.head), 0);
	tp_armed_switch(armed, true);
	trace_sample_text(text);
	ck_assert_uint_eq(tp_sink_lost(&s.head), 1);
	free(text);
	tp_armed_switch(armed, false);
	tp_armed_end(&s.head, armed);
}

/* The event's module comes, goes, and comes back; what is enabled on the sink decides at first. */
LOOP_TEST(of_a_module_that_comes, 2)
{
	struct tp_armed *armed;
	struct sample_module m;

	if (_i)
		tp_enable(&s.head, "later:*");
	armed = begin("later:event");
	sample_module_init(&m, "later", "event", "int value");
	for (int turn = 0; turn < 2; turn++) {
		tp_module_load(&m.module);
		s.log[0] = '\0';
		sample_module_hit(&m, 1);
		ck_assert_str_eq(s.log, _i || turn ? "event " : "");
		tp_armed_switch(armed, true);
		s.log[0] = '\0';
		sample_module_hit(&m, 1);
		ck_assert_str_eq(s.log, "event ");
		tp_module_unload(&m.module);
	}
	tp_armed_end(&s.head, armed);
	ck_assert_int_eq(tp_armed_begin(&s.head, "no_colon", &(int){0}) == NULL, 1);
}

static int left;

static void *malloc_some(size_t size)
{
	return left-- > 0 ? malloc(size) : NULL;
}

TEST(without_memory)
{
	int error = -1;

	for (int nr = 0; error; nr++) {
		left = nr;
		tp_malloc = malloc_some;
		struct tp_armed *armed = tp_armed_begin(&s.head, "sample:sample_int", &error);
		tp_malloc = malloc;
		ck_assert_int_eq(armed == NULL, error == -ENOMEM);
		ck_assert(is_armed() == !error);
		ck_assert_hits(&s, "");
		if (armed)
			tp_armed_end(&s.head, armed);
	}
	ck_assert(!is_armed());
}

/* ---- A storm ---- */

static struct tp_armed *stormed;
static bool end;

static void switch_in_handler(int sig)
{
	tp_armed_switch(stormed, sig == SIGUSR1);
}

static void *hit(void *unused)
{
	while (!__atomic_load_n(&end, __ATOMIC_RELAXED))
		trace_sample_int(1);
	return unused;
}

static bool count_reserve(struct tp_record *rec)
{
	(void)rec;
	return false;
}

static int count_close(struct tp_sink *head)
{
	(void)head;
	return 0;
}

FIXTURE(NULL, NULL)

/* Switched by handlers, rules and triggers that come and go, while threads hit. */
TEST(storm)
{
	static const struct tp_sink_ops ops = {.name = "count", .reserve = count_reserve, .close = count_close};
	struct tp_sink sink;
	pthread_t threads[2];
	int error;

	ck_assert_int_eq(tp_sink_open(&sink, &ops), 0);
	stormed = tp_armed_begin(&sink, "sample:sample_int", &error);
	signal(SIGUSR1, switch_in_handler);
	signal(SIGUSR2, switch_in_handler);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, hit, NULL);
	for (unsigned int i = 0, nr = few_or_many(120, 500); i < nr; i++) {
		pthread_kill(threads[i % 2], i & 2 ? SIGUSR1 : SIGUSR2);
		struct tp_armed *other = tp_armed_begin(&sink, i & 4 ? "sample:sample_int" : "sample:sample_text", &error);
		if (i & 1)
			tp_enable_if(&sink, "sample_*", "value > 0", NULL);
		else
			tp_disable(&sink, "sample_*");
		tp_armed_end(&sink, other);
	}
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	tp_armed_end(&sink, stormed);
	ck_assert_int_eq(tp_sink_close(&sink), 0);
}
