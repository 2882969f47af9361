/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST: event EVENT of the header EVENTS. The argument is a number of empty probes; or -1 where a session must
 * have enabled it.
 */
#ifndef EVENTS
#define EVENTS "lttng_events.h"
#endif

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include EVENTS

/* LTTng-UST's macros paste their arguments together; these expand EVENT before. */
#define IS_ENABLED(event) lttng_ust_tracepoint_enabled(bench, event)
#define HIT_EVENT(event, number, id, name) lttng_ust_tracepoint(bench, event, number, id, name)
#define TRACEPOINT(event) TRACEPOINT_OF(event)
#define TRACEPOINT_OF(event) lttng_ust_tracepoint_bench___##event
#define NAME(event) NAME_OF(event)
#define NAME_OF(event) #event

/* What LTTng-UST itself does with its recorder's functions. */
static MAY_BE_UNUSED void add_probe(void *data)
{
	if (lttng_ust_tracepoint_provider_register("bench", NAME(EVENT), (void (*)(void))empty_probe, data,
						   TRACEPOINT(EVENT).signature) != 0)
		fail("a probe can't be registered");
}

/* Waits for a grace period, too, before it frees the array. */
static MAY_BE_UNUSED void remove_probe(void *data)
{
	if (lttng_ust_tracepoint_provider_unregister("bench", NAME(EVENT), (void (*)(void))empty_probe, data) != 0)
		fail("a probe can't be taken off");
}

static MAY_BE_UNUSED void prepare(int probes)
{
	static char data[8]; /* tells the probes apart */

	for (int i = 0; i < probes; i++)
		add_probe(&data[i]);
	if (probes != 0 && !IS_ENABLED(EVENT))
		fail("LTTng-UST's event is not enabled");
}
#define PREPARE(argument) prepare(argument)

#define HIT(number, id, name) HIT_EVENT(EVENT, number, id, name)
