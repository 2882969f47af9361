/* SPDX-License-Identifier: MIT */
/*
 * Ours. The argument is a number of empty probes; or -1 where the environment
 * has to have enabled the event; or -2 for a text sink on /dev/null.
 */
#define CREATE_TRACE_POINTS
#include "bench.h"

#include <tp/tp.h>

static MAY_BE_UNUSED void add_probe(void *data)
{
	if (register_trace_bench_event(empty_probe, data) != 0)
		fail("a probe can't be registered");
}

static MAY_BE_UNUSED void remove_probe(void *data)
{
	if (unregister_trace_bench_event(empty_probe, data) != 0)
		fail("a probe can't be taken off");
	tracepoint_synchronize_unregister();
}

static void print_to_null(void)
{
	FILE *file = fopen("/dev/null", "w");
	struct tp_sink *sink = tp_text_sink(file);

	if (!sink || tp_enable(sink, "bench:*") != 1)
		fail("a text sink can't be had");
}

static MAY_BE_UNUSED void prepare(int probes)
{
	static char data[8]; /* tells the probes apart */

	if (probes == -2)
		print_to_null();
	for (int i = 0; i < probes; i++)
		add_probe(&data[i]);
	if (probes != 0 && !trace_bench_event_enabled())
		fail("our event is not enabled");
}
#define PREPARE(argument) prepare(argument)

#define HIT(number, id, name) trace_bench_event(number, id, name)
