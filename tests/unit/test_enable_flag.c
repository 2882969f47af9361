/* SPDX-License-Identifier: MIT */
/*
 * test_enable_flag.c - a flag in front of the only probe, through generated sites.
 */
#define CREATE_TRACE_POINTS
#include "subsys.h"

#include "core/core.h"
#include "util.h"

/* Elsewhere the flag is not looked at. */
#if defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define CLOSED_CALLS 0
#else
#define CLOSED_CALLS 1
#endif

static int calls, others;

static void probe(void *data, int firstarg, struct task_struct *p)
{
	ck_assert_ptr_eq(data, &calls);
	ck_assert_int_eq(firstarg, -7);
	ck_assert_ptr_eq(p, &others);
	calls++;
}

static void other(void *data, int firstarg, struct task_struct *p)
{
	(void)data;
	(void)firstarg;
	(void)p;
	others++;
}

static void hit(int times)
{
	for (int i = 0; i < times; i++)
		trace_subsys_eventname(-7, (struct task_struct *)(void *)&others);
}

/* Hits so often; how often the probe behind the check was called. */
static int calls_of(int times)
{
	int before = calls;

	hit(times);
	return calls - before;
}

static void add(const int *enable_flag)
{
	const struct tracepoint_func gated = {
		.func = (tp_probe_t)probe, .data = &calls, .prio = TRACEPOINT_DEFAULT_PRIO, .enable_flag = enable_flag};

	ck_assert_int_eq(tp_registry_add("subsys_eventname", __tracepoint_subsys_eventname.proto, &gated, true), 0);
}

static void take_off(void)
{
	ck_assert_int_eq(unregister_trace_subsys_eventname(probe, &calls), 0);
	ck_assert_int_eq(tracepoint_synchronize_unregister(), 0);
	ck_assert_int_eq(calls_of(5), 0);
	ck_assert(!trace_subsys_eventname_enabled());
}

static void wake(void)
{
	tp_modules_wake();
}

FIXTURE(wake, NULL)

TEST(opens_and_closes)
{
	static int enable_flag;

	add(&enable_flag);
	ck_assert(trace_subsys_eventname_enabled());
	ck_assert_int_eq(calls_of(3), 3 * CLOSED_CALLS);
	enable_flag = 1;
	ck_assert_int_eq(calls_of(3), 3);
	enable_flag = 0;
	ck_assert_int_eq(calls_of(3), 3 * CLOSED_CALLS);
	enable_flag = -1; /* not only 1 is open */
	ck_assert_int_eq(calls_of(3), 3);
	take_off();
}

/* In front of it, behind it, and gone again: only once the array is compact does the check come back. */
TEST(other_probes_are_called)
{
	static int enable_flag;

	for (int prio = 5; prio <= 15; prio += 10) {
		others = 0;
		add(&enable_flag);
		ck_assert_int_eq(register_trace_prio_subsys_eventname(other, NULL, prio), 0);
		ck_assert_int_eq(calls_of(3), 3); /* there is no check for one of two */
		ck_assert_int_eq(others, 3);
		ck_assert_int_eq(unregister_trace_subsys_eventname(other, NULL), 0);
		ck_assert_int_eq(calls_of(3), 3);
		ck_assert_int_eq(tracepoint_synchronize_unregister(), 0);
		ck_assert_int_eq(calls_of(3), 3 * CLOSED_CALLS);
		ck_assert_int_eq(others, 3);
		take_off();
	}
	ck_assert_int_eq(register_trace_subsys_eventname(other, NULL), 0);
	add(&enable_flag);
	ck_assert_int_eq(unregister_trace_subsys_eventname(probe, &calls), 0);
	hit(2);
	ck_assert_int_eq(others, 5);
	ck_assert_int_eq(unregister_trace_subsys_eventname(other, NULL), 0);
}

TEST(another_gate_and_none)
{
	static int first, second = 1;

	add(&first);
	take_off();
	add(&second);
	ck_assert_int_eq(calls_of(3), 3);
	take_off();
	add(NULL);
	ck_assert_int_eq(calls_of(3), 3);
	take_off();
	add(&first);
	ck_assert_int_eq(calls_of(3), 3 * CLOSED_CALLS);
	take_off();
}

static void *keep_hitting(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
		hit(10);
	return NULL;
}

TEST(while_threads_hit_it)
{
	static int enable_flag;
	static bool stop;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, keep_hitting, &stop);
	for (unsigned int i = 0, nr = few_or_many(60, 300); i < nr; i++) {
		add(&enable_flag);
		__atomic_store_n(&enable_flag, 1, __ATOMIC_RELAXED);
		ck_assert_int_eq(register_trace_subsys_eventname(other, NULL), 0);
		__atomic_store_n(&enable_flag, 0, __ATOMIC_RELAXED);
		ck_assert_int_eq(unregister_trace_subsys_eventname(other, NULL), 0);
		ck_assert_int_eq(tracepoint_synchronize_unregister(), 0);
		ck_assert_int_eq(unregister_trace_subsys_eventname(probe, &calls), 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}
