/* SPDX-License-Identifier: MIT */
/*
 * Ours: EVENT of the header EVENTS. The argument is a number of empty probes; or -1 where the environment
 * has to have enabled the event; or -2 for a text sink on /dev/null.
 */
#ifndef EVENTS
#define EVENTS "bench.h"
#define EVENT bench_event
#endif

#define CREATE_TRACE_POINTS
#include EVENTS

#include <tp/tp.h>

#define PASTE(before, event, after) PASTE_ALL(before, event, after)
#define PASTE_ALL(before, event, after) before##event##after

static MAY_BE_UNUSED void add_probe(void *data)
{
	if (PASTE(register_trace_, EVENT, )(empty_probe, data) != 0)
		fail("a probe can't be registered");
}

static MAY_BE_UNUSED void remove_probe(void *data)
{
	if (PASTE(unregister_trace_, EVENT, )(empty_probe, data) != 0)
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
	if (probes != 0 && !PASTE(trace_, EVENT, _enabled)())
		fail("our event is not enabled");
}
#define PREPARE(argument) prepare(argument)

#define HIT(number, id, name) PASTE(trace_, EVENT, )(number, id, name)
