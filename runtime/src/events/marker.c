/* SPDX-License-Identifier: MIT */
/*
 * events/marker.c - the functions of tp/marker.h. Markers are tracepoints
 * called "marker:NAME", whose prototype is the format.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <errno.h>
#include <string.h>

#include <tp/marker.h>

#include "base/base.h"
#include "core/core.h"
#include "events/events.h"
#include "events/iterate.h"

#define PREFIX_LEN (sizeof(TP_MARKER_PREFIX) - 1)

/* ---- Calling the probes ---- */

/* The header declares it as a function of another type, to initialize markers with. */
TP_PUBLIC void iterate(struct tracepoint *tp, ...) __asm__("tp_marker_iterate");

/*
 * Called by sites directly, or by tp_call_probes(), which leaves in the vector
 * registers what is there: none of the arguments that it passes is looked for in them.
 */
void iterate(struct tracepoint *tp, ...)
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

/* ---- Registering ---- */

/* The tracepoint's name; false where a marker can't be called so. */
static bool full_name(char text[PREFIX_LEN + TP_MARKER_NAME_MAX + 1], const char *name)
{
	size_t len = name ? strnlen(name, TP_MARKER_NAME_MAX + 1) : 0;

	if (!name || len > TP_MARKER_NAME_MAX)
		return false;
	memcpy(text, TP_MARKER_PREFIX, PREFIX_LEN);
	memcpy(text + PREFIX_LEN, name, len + 1);
	return true;
}

int tp_marker_register(const char *name, const char *format, marker_probe_func *probe, void *data)
{
	char text[PREFIX_LEN + TP_MARKER_NAME_MAX + 1];

	if (!full_name(text, name))
		return -EINVAL;
	return tp_registry_register(text, format, (tp_probe_t)probe, data, TRACEPOINT_DEFAULT_PRIO);
}

int marker_probe_unregister(const char *name, marker_probe_func *probe, void *data)
{
	char text[PREFIX_LEN + TP_MARKER_NAME_MAX + 1];

	if (!full_name(text, name))
		return -EINVAL;
	return tp_probe_unregister(text, (tp_probe_t)probe, data);
}

void tp_for_each_marker(void (*fct)(struct marker *marker, void *data), void *data)
{
	tp_events_start();
	tp_lock(&tp_registry_lock);
	for (struct tp_module *module = tp_modules; module; module = module->next) {
		for (struct tracepoint **at = module->markers; at < module->markers_end; at++) {
			if (*at)
				fct((struct marker *)*at, data);
		}
	}
	tp_unlock(&tp_registry_lock);
}
