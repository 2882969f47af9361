/* SPDX-License-Identifier: MIT */
/*
 * core/marker.c - calling the probes of markers, and how messages speak of these.
 * They are tracepoints called "marker:NAME", whose prototype is the format.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <string.h>

#include <tp/marker.h>

#include "core/core.h"
#include "core/iterate.h"

#define PREFIX_LEN (sizeof(TP_MARKER_PREFIX) - 1)

/* ---- Words ---- */

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

/* ---- Calling the probes ---- */

/*
 * Called by sites directly, or by tp_call_probes(), which leaves in the vector
 * registers what is there: none of the arguments that it passes is looked for in them.
 */
void tp_marker_iterate(struct tracepoint *tp, ...)
{
	struct marker *marker = (struct marker *)tp;
	tp_probe_t probe;
	va_list args;
	int hit;

	for (const struct tracepoint_func *it = tp_iterate_enter(tp, &hit); it && (probe = tp_probe_func(it)); it++) {
		if (probe == TP_REMOVED)
			continue;
		va_start(args, tp);
		((marker_probe_func *)probe)(it->data, marker, marker->format, &args);
		va_end(args);
	}
	tp_iterate_leave(hit);
}
