/* SPDX-License-Identifier: MIT */
/*
 * Ours: a probe is registered, taken off, and waited for. With an argument,
 * another thread hits the tracepoint all the while, and calls a second probe.
 */
#define CREATE_TRACE_POINTS
#include "bench.h"

static uint64_t hits; /* of the other thread */
static bool is_busy;

static void *hit_for_ever(void *unused)
{
	pin(1);
	for (uint64_t i = 1;; i++) {
		trace_bench_event(i, 1, "a task's name");
		__atomic_store_n(&hits, i, __ATOMIC_RELAXED);
	}
	return unused;
}

static void prepare(int busy)
{
	static char data;
	pthread_t thread;

	if (!busy)
		return;
	if (register_trace_bench_event(empty_probe, &data) != 0)
		fail("a probe can't be registered");
	if (pthread_create(&thread, NULL, hit_for_ever, NULL) != 0)
		fail("no thread can be made");
	pin(0);
	is_busy = true;
}
#define PREPARE(argument) prepare(argument)

/*
 * While the other thread is not running, an operation is so fast that a whole
 * measurement fits in such a pause: so none begins but when it is seen to run.
 */
static void wait_for_a_hit(void)
{
	uint64_t before = __atomic_load_n(&hits, __ATOMIC_RELAXED);

	while (__atomic_load_n(&hits, __ATOMIC_RELAXED) == before)
		;
}

static void register_and_unregister(void)
{
	if (is_busy)
		wait_for_a_hit();
	if (register_trace_bench_event(empty_probe, NULL) != 0 || unregister_trace_bench_event(empty_probe, NULL) != 0)
		fail("a probe can't be registered");
	tracepoint_synchronize_unregister();
}
#define HIT(number, id, name) ((void)(number), register_and_unregister())
