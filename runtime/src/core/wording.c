/* SPDX-License-Identifier: MIT */
/*
 * core/wording.c - how messages speak of tracepoints, and of markers, which
 * are tracepoints called "marker:NAME" whose prototype is a format.
 */
#include <string.h>

#include "core/core.h"

#define PREFIX_LEN (sizeof(TP_MARKER_PREFIX) - 1)

/* No tracepoint has a colon in its name. */
static bool is_marker_name(const char *name)
{
	return strncmp(name, TP_MARKER_PREFIX, PREFIX_LEN) == 0;
}

bool tp_is_marker(const struct tracepoint *tp)
{
	return is_marker_name(tp->name);
}

const struct tp_wording *tp_wording_of(const char *name)
{
	static const struct tp_wording tracepoint = {
		"tracepoint", "prototype", "(", ")", "build both from the same definition", 0,
	};
	static const struct tp_wording marker = {
		"marker", "format", "\"", "\"", "give both the same format", PREFIX_LEN,
	};

	return is_marker_name(name) ? &marker : &tracepoint;
}
