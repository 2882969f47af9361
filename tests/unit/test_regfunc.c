/* SPDX-License-Identifier: MIT */
/*
 * test_regfunc.c - regfunc and unregfunc: called around the time in which a
 * tracepoint has probes, for each module that defines it; and the events that
 * hang on a tracepoint of which they only say the name.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "events/events.h"
#include "failing_malloc.h"
#include "sample.h"
#include "util.h"

static struct sample_module one, two;
static char calls[64]; /* "+" regfunc, "-" unregfunc, behind the module's number */
static int result_1, result_2;
static bool was_on; /* when it was called */

static int regfunc_1(void)
{
	strcat(calls, "1+ ");
	was_on = tp_tracepoint_is_on(&one.tp);
	return result_1;
}

static void unregfunc_1(void)
{
	strcat(calls, "1- ");
	was_on = tp_tracepoint_is_on(&one.tp);
}

static int regfunc_2(void)
{
	strcat(calls, "2+ ");
	return result_2;
}

static void unregfunc_2(void)
{
	strcat(calls, "2- ");
}

static void probe(void *data, int value)
{
	*(int *)data += value;
}

static int sums[3];

static int add(int n)
{
	return tp_probe_register("with", "int", (tp_probe_t)probe, &sums[n], 10);
}

static int take(int n)
{
	return tp_probe_unregister("with", (tp_probe_t)probe, &sums[n]);
}

static void set_up(void)
{
	tp_events_start();
	sample_module_init(&one, "m", "with", "int");
	one.tp.regfunc = regfunc_1;
	one.tp.unregfunc = unregfunc_1;
	sample_module_init(&two, "m", "with", "int");
	two.tp.regfunc = regfunc_2;
	two.tp.unregfunc = unregfunc_2;
}

FIXTURE(set_up, NULL)

/* ---- One module ---- */

TEST(around_the_first_and_the_last_probe)
{
	tp_module_load(&one.module);
	ck_assert_str_eq(calls, "");
	was_on = true;
	ck_assert_int_eq(add(0), 0);
	ck_assert_str_eq(calls, "1+ ");
	ck_assert(!was_on);
	ck_assert_int_eq(add(1), 0);
	ck_assert_int_eq(take(0), 0);
	ck_assert_str_eq(calls, "1+ ");
	was_on = true;
	ck_assert_int_eq(take(1), 0);
	ck_assert_str_eq(calls, "1+ 1- ");
	ck_assert(!was_on);
	ck_assert_int_eq(add(0), 0);
	ck_assert_int_eq(take(0), 0);
	ck_assert_str_eq(calls, "1+ 1- 1+ 1- ");
}

TEST(either_may_be_missing)
{
	one.tp.regfunc = NULL;
	tp_module_load(&one.module);
	ck_assert_int_eq(add(0), 0);
	ck_assert_int_eq(take(0), 0);
	ck_assert_str_eq(calls, "1- ");
	one.tp.regfunc = regfunc_1;
	one.tp.unregfunc = NULL;
	ck_assert_int_eq(add(0), 0);
	ck_assert_int_eq(take(0), 0);
	ck_assert_str_eq(calls, "1- 1+ ");
}

TEST(refused_probe_changes_nothing)
{
	tp_module_load(&one.module);
	result_1 = -EPERM;
	ck_assert_int_eq(add(0), -EPERM);
	ck_assert_str_eq(calls, "1+ ");
	ck_assert(!tp_tracepoint_is_on(&one.tp));
	ck_assert_ptr_null(one.tp.funcs);
	ck_assert_int_eq(take(0), -ENOENT);
	result_1 = 1; /* only negative is failure, as in the kernel */
	ck_assert_int_eq(add(0), 0);
	sample_module_hit(&one, 5);
	ck_assert_int_eq(sums[0], 5);
	ck_assert_str_eq(calls, "1+ 1+ ");
}

TEST(without_memory_it_is_not_called)
{
	tp_module_load(&one.module);
	fail_malloc_after(0);
	ck_assert_int_eq(add(0), -ENOMEM);
	let_malloc_be();
	ck_assert_str_eq(calls, "");
	ck_assert_int_eq(add(0), 0);
	ck_assert_int_eq(add(1), 0);
	fail_malloc_after(0); /* the elements are removed in place */
	ck_assert_int_eq(take(0), 0);
	ck_assert_str_eq(calls, "1+ ");
	ck_assert_int_eq(take(1), 0);
	let_malloc_be();
	ck_assert_str_eq(calls, "1+ 1- ");
}

/* ---- Waiting ---- */

static bool inside, looked, returned;

static int regfunc_slow(void)
{
	__atomic_store_n(&inside, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE))
		usleep(100);
	usleep(50000); /* in which who does not wait goes on */
	return 0;
}

static void *enable(void *how)
{
	struct tp_sink *sink = how;

	if (sink)
		tp_enable(sink, "with");
	else
		add(0);
	__atomic_store_n(&returned, true, __ATOMIC_RELEASE);
	return NULL;
}

/* A thread that the regfunc has woken finds the event on, whoever switches it. */
LOOP_TEST(waited_for, 2)
{
	pthread_t thread;
	struct tp_sink *sink = _i ? tp_text_sink(stderr) : NULL;

	one.tp.regfunc = regfunc_slow;
	tp_module_load(&one.module);
	pthread_create(&thread, NULL, enable, sink);
	while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE) && !__atomic_load_n(&returned, __ATOMIC_ACQUIRE))
		usleep(100);
	ck_assert(inside);
	ck_assert(!tp_tracepoint_is_on(&one.tp));
	__atomic_store_n(&looked, true, __ATOMIC_RELEASE);
	tp_enable_wait();
	ck_assert(tp_tracepoint_is_on(&one.tp));
	pthread_join(thread, NULL);
	if (sink)
		tp_sink_close(sink);
	else
		take(0);
	tp_module_unload(&one.module);
}

/* ---- Modules that come and go ---- */

TEST(module_of_waiting_probes)
{
	ck_assert_int_eq(add(0), 0);
	ck_assert_str_eq(calls, "");
	tp_module_load(&one.module);
	ck_assert_str_eq(calls, "1+ ");
	ck_assert(tp_tracepoint_is_on(&one.tp));
	tp_module_load(&one.module); /* another of its files */
	tp_module_unload(&one.module);
	ck_assert_str_eq(calls, "1+ 1- ");
	ck_assert_int_eq(take(0), 0);
	ck_assert_str_eq(calls, "1+ 1- ");
	tp_module_load(&one.module);
	tp_module_unload(&one.module);
	ck_assert_str_eq(calls, "1+ 1- ");
}

TEST(module_that_refuses_waiting_probes)
{
	add(0);
	result_1 = -EPERM;
	capture_stderr();
	tp_module_load(&one.module);
	char *text = captured_stderr();
	ck_assert_uint_eq(count_of(text, "\n"), 1);
	ck_assert_contains(text, "tp: tracepoint 'with' of ");
	ck_assert_contains(text, "stays off");
	ck_assert_contains(text, strerror(EPERM));
	free(text);
	ck_assert(!tp_tracepoint_is_on(&one.tp));

	/* It does so until the next first probe; and meanwhile others are on. */
	ck_assert_int_eq(add(1), 0);
	ck_assert(!tp_tracepoint_is_on(&one.tp));
	tp_module_load(&two.module);
	sample_module_hit(&two, 7);
	sample_module_hit(&one, 100);
	ck_assert_int_eq(sums[0], 7);
	ck_assert_str_eq(calls, "1+ 2+ ");
	take(0);
	take(1);
	ck_assert_str_eq(calls, "1+ 2+ 2- ");
	result_1 = 0;
	ck_assert_int_eq(add(0), 0);
	ck_assert(tp_tracepoint_is_on(&one.tp));
	ck_assert_str_eq(calls, "1+ 2+ 2- 1+ 2+ ");
	tp_module_unload(&one.module);
	ck_assert_str_eq(calls, "1+ 2+ 2- 1+ 2+ 1- ");
}

TEST(each_modules_own)
{
	tp_module_load(&one.module);
	tp_module_load(&two.module);
	add(0);
	ck_assert_str_eq(calls, "1+ 2+ ");
	take(0);
	ck_assert_str_eq(calls, "1+ 2+ 1- 2- ");
	calls[0] = '\0';

	result_2 = -EIO; /* the other's is undone */
	ck_assert_int_eq(add(0), -EIO);
	ck_assert_str_eq(calls, "1+ 2+ 1- ");
	ck_assert(!tp_tracepoint_is_on(&one.tp));
	ck_assert(!tp_tracepoint_is_on(&two.tp));
	ck_assert_int_eq(take(0), -ENOENT);
}

/* ---- Events of a tracepoint that is only named ---- */

TEST(event_of_a_named_tracepoint)
{
	static struct sample_module custom;
	static const struct tracepoint named = {.name = "with", .proto = "int"};

	sample_module_init(&custom, "custom", "another_name", "int");
	custom.event.tracepoint = (struct tracepoint *)(uintptr_t)&named;
	custom.module.tracepoints_end = custom.module.tracepoints;
	tp_module_load(&custom.module); /* in front of the one that has the tracepoint */
	ck_assert_uint_ne(custom.event.id, 0);
	tp_module_load(&one.module);
	tp_module_unload(&custom.module);
	ck_assert_uint_eq(custom.event.id, 0);
	tp_module_load(&custom.module);
	ck_assert_uint_ne(custom.event.id, 0);
}

TEST(event_of_another_prototype_is_refused)
{
	static struct sample_module custom;
	static const struct tracepoint named = {.name = "with", .proto = "long"};

	tp_module_load(&one.module);
	sample_module_init(&custom, "custom", "another_name", "int");
	custom.event.tracepoint = (struct tracepoint *)(uintptr_t)&named;
	custom.module.tracepoints_end = custom.module.tracepoints;
	capture_stderr();
	tp_module_load(&custom.module);
	char *text = captured_stderr();
	ck_assert_uint_eq(count_of(text, "\n"), 1);
	ck_assert_contains(text, "a custom event of tracepoint 'with'");
	ck_assert_contains(text, "(long)");
	free(text);
	ck_assert_uint_eq(custom.event.id, 0);
}
