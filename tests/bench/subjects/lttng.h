/* SPDX-License-Identifier: MIT */
/* LTTng-UST: its event EVENT. With an argument, a session has to have enabled it. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

/* LTTng-UST's macros paste their arguments together; these expand EVENT before. */
#define IS_ENABLED(event) lttng_ust_tracepoint_enabled(bench, event)
#define HIT_EVENT(event, number, id, name) lttng_ust_tracepoint(bench, event, number, id, name)

static void prepare(int must_be_enabled)
{
	if (must_be_enabled && !IS_ENABLED(EVENT))
		fail("no session has enabled LTTng-UST's event");
}
#define PREPARE(argument) prepare(argument)

#define HIT(number, id, name) HIT_EVENT(EVENT, number, id, name)
