/* SPDX-License-Identifier: MIT */
/*
 * Ours: a probe is registered, taken off, and waited for. With an argument,
 * another thread hits the tracepoint all the while.
 */
#define CREATE_TRACE_POINTS
#include "bench.h"

static void *hit_for_ever(void *unused)
{
	for (uint64_t i = 0;; i++)
		trace_bench_event(i, 1, "a task's name");
	return unused;
}

static void prepare(int busy)
{
	pthread_t thread;

	if (busy && pthread_create(&thread, NULL, hit_for_ever, NULL) != 0)
		fail("no thread can be made");
}
#define PREPARE(argument) prepare(argument)

static void register_and_unregister(void)
{
	if (register_trace_bench_event(empty_probe, NULL) != 0 || unregister_trace_bench_event(empty_probe, NULL) != 0)
		fail("a probe can't be registered");
	tracepoint_synchronize_unregister();
}
#define HIT(number, id, name) ((void)(number), register_and_unregister())
