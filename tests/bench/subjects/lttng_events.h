/* SPDX-License-Identifier: MIT */
/* The events of bench.tp and two_strings.tp for LTTng-UST, one for each session, so that an event is recorded by one of them only. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_events.h"

#if !defined(LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(bench, event,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, number, number)
		lttng_ust_field_integer(uint32_t, id, id)
		lttng_ust_field_array_text(char, name, name, 16)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, event, bench, off,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, event, bench, discard,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, event, bench, snapshot,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, event, bench, refused,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, event, bench, accepted,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))

LTTNG_UST_TRACEPOINT_EVENT(bench, strings,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, number, number)
		lttng_ust_field_integer(uint32_t, id, id)
		lttng_ust_field_string(name, name)
		lttng_ust_field_string(end, name + 8)
	)
)

#endif

#include <lttng/tracepoint-event.h>
