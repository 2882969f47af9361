/* SPDX-License-Identifier: MIT */
/* The events of leaves.tp for LTTng-UST. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER leaves

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_leaves.h"

#if !defined(LTTNG_LEAVES_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_LEAVES_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(leaves, real,
	LTTNG_UST_TP_ARGS(const void *, histogram, double, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_float(double, value, value)
	)
)
LTTNG_UST_TRACEPOINT_EVENT(leaves, six,
	LTTNG_UST_TP_ARGS(const void *, request, uint32_t, id, uint64_t, offset, uint64_t, size, uint32_t, flags,
			  int, result),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, offset, offset)
	)
)

#endif

#include <lttng/tracepoint-event.h>

#define REAL(...) lttng_ust_tracepoint(leaves, real, __VA_ARGS__)
#define SIX(...) lttng_ust_tracepoint(leaves, six, __VA_ARGS__)
