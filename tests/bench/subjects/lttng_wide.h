/* SPDX-License-Identifier: MIT */
/* The event of wide.tp for LTTng-UST, one for each session, as in lttng_events.h. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_wide.h"

#if !defined(LTTNG_WIDE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_WIDE_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(bench, wide,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, number)
		lttng_ust_field_integer(uint64_t, b, number + 1)
		lttng_ust_field_integer(uint64_t, c, number + 2)
		lttng_ust_field_integer(uint64_t, d, number + 3)
		lttng_ust_field_integer(uint64_t, e, number + 4)
		lttng_ust_field_integer(uint64_t, f, number + 5)
		lttng_ust_field_integer(uint64_t, g, number + 6)
		lttng_ust_field_integer(uint64_t, h, number + 7)
		lttng_ust_field_integer(uint32_t, i, id)
		lttng_ust_field_integer(uint32_t, j, id + 1)
		lttng_ust_field_integer(uint32_t, k, id + 2)
		lttng_ust_field_integer(uint32_t, l, id + 3)
		lttng_ust_field_array_text(char, m, name, 8)
		lttng_ust_field_array_text(char, n, name + 8, 8)
		lttng_ust_field_string(o, name)
		lttng_ust_field_string(p, name + 2)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, wide, bench, wide_discard,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(bench, wide, bench, wide_snapshot,
	LTTNG_UST_TP_ARGS(uint64_t, number, uint32_t, id, const char *, name))

#endif

#include <lttng/tracepoint-event.h>
