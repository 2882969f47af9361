/* SPDX-License-Identifier: MIT */
/* Ours. The argument is a number of empty probes, or -1 where the environment has to have enabled the event. */
#define CREATE_TRACE_POINTS
#include "bench.h"

static void prepare(int probes)
{
	static char data[8]; /* tells the probes apart */

	if (probes < 0 && !trace_bench_event_enabled())
		fail("TP_ENABLE has not enabled our event");
	for (int i = 0; i < probes; i++) {
		if (register_trace_bench_event(empty_probe, &data[i]) != 0)
			fail("a probe can't be registered");
	}
}
#define PREPARE(argument) prepare(argument)

#define HIT(number, id, name) trace_bench_event(number, id, name)
