/* SPDX-License-Identifier: MIT */
/*
 * marker.c - markers as the registry sees them: tracepoints called
 * "marker:NAME", whose prototype is the format.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <errno.h>
#include <string.h>

#include <tp/marker.h>
#include <tp/read.h>

#include "internal.h"

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

/* ---- Calling the probes ---- */

/*
 * Called by sites directly, or by tp_call_probes(), which leaves in the vector
 * registers what is there: none of the arguments that it passes is looked for in them.
 */
static void iterate(struct tracepoint *tp, ...)
{
	struct marker *marker = (struct marker *)tp;
	const struct tracepoint_func *it = tp_read_lock(tp);
	tp_probe_t probe;
	va_list args;

	/* ThreadSanitizer sees the program's probes, but not this. */
	if (__tsan_acquire)
		__tsan_acquire(&tp->funcs);
	for (; it && (probe = tp_probe_func(it)); it++) {
		if (probe == TP_REMOVED)
			continue;
		va_start(args, tp);
		((marker_probe_func *)probe)(it->data, marker, marker->format, &args);
		va_end(args);
	}
	if (__tsan_release)
		__tsan_release(&urcu_bp_gp);
	tp_read_unlock();
}

/* ---- Modules ---- */

/* Where a compiler has made several copies of a site, each has announced its marker. */
static bool is_repeated(const struct tp_module *module, struct tracepoint *const *at)
{
	const struct tracepoint *tp = *at;

	/* The first of them has set it; it is looked for only where the marker was loaded before. */
	if (tp->iterate != (tp_probe_t)iterate)
		return false;
	for (struct tracepoint *const *before = module->markers; before < at; before++) {
		if (*before == tp)
			return true;
	}
	return false;
}

void tp_markers_load(struct tp_module *module)
{
	for (struct tracepoint **at = module->markers; at < module->markers_end; at++) {
		struct marker *marker = (struct marker *)*at;
		if (!marker)
			continue;
		if (is_repeated(module, at)) {
			*at = NULL;
			continue;
		}
		marker->tp.iterate = (tp_probe_t)iterate;
		marker->event = tp_marker_event_of(marker);
	}
}

struct tp_event *tp_marker_event(const struct tracepoint *tp)
{
	const struct marker *marker = (const struct marker *)tp;

	return marker && tp->registered ? marker->event : NULL;
}

/* ---- The functions of tp/marker.h ---- */

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

int tp_marker_register(const char *name, const char *format, marker_probe_func *probe, void *probe_private)
{
	char text[PREFIX_LEN + TP_MARKER_NAME_MAX + 1];

	if (!full_name(text, name))
		return -EINVAL;
	return tp_registry_register(text, format, (tp_probe_t)probe, probe_private, TRACEPOINT_DEFAULT_PRIO);
}

int marker_probe_unregister(const char *name, marker_probe_func *probe, void *probe_private)
{
	char text[PREFIX_LEN + TP_MARKER_NAME_MAX + 1];

	if (!full_name(text, name))
		return -EINVAL;
	return tp_probe_unregister(text, (tp_probe_t)probe, probe_private);
}

void for_each_marker(void (*fct)(struct marker *marker, void *priv), void *priv)
{
	tp_lock(&tp_registry_lock);
	for (struct tp_module *module = tp_modules; module; module = module->next) {
		for (struct tracepoint **at = module->markers; at < module->markers_end; at++) {
			if (*at)
				fct((struct marker *)*at, priv);
		}
	}
	tp_unlock(&tp_registry_lock);
}
