/* SPDX-License-Identifier: MIT */
/*
 * core/tracepoint.c - the functions of tp/tracepoint.h and tp/marker.h that ask
 * something of a tracepoint, for which the modules must be linked.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <errno.h>
#include <string.h>

#include <tp/marker.h>

#include "core/core.h"
#include "core/registry.h"
#include "core/site.h"

#define MARKER_PREFIX_LEN (sizeof(TP_MARKER_PREFIX) - 1)

/* ---- Probes ---- */

int tp_registry_register(const char *text, const char *proto, tp_probe_t func, void *data, int prio)
{
	int error;

	error = tp_modules_wake();
	if (error)
		return error;
	return tp_registry_add(text, proto, &(struct tracepoint_func){.func = func, .data = data, .prio = prio}, true);
}

int tp_registry_register_on(const struct tracepoint *tp, tp_probe_t func, void *data, int prio)
{
	int error;

	error = tp_modules_wake(); /* which fills in its name */
	if (error)
		return error;
	return tp ? tp_registry_register(tp->name, tp->proto, func, data, prio) : -EINVAL;
}

int tp_probe_unregister(const char *text, tp_probe_t func, void *data)
{
	return tp_registry_remove(text, func, data, true);
}

/* ---- Probes of markers ---- */

/* The tracepoint's name; false where a marker can't be called so. */
static bool full_name(char text[MARKER_PREFIX_LEN + TP_MARKER_NAME_MAX + 1], const char *name)
{
	size_t len = name ? strnlen(name, TP_MARKER_NAME_MAX + 1) : 0;

	if (!name || len > TP_MARKER_NAME_MAX)
		return false;
	memcpy(text, TP_MARKER_PREFIX, MARKER_PREFIX_LEN);
	memcpy(text + MARKER_PREFIX_LEN, name, len + 1);
	return true;
}

int tp_marker_register(const char *name, const char *format, marker_probe_func *probe, void *data)
{
	char text[MARKER_PREFIX_LEN + TP_MARKER_NAME_MAX + 1];

	if (!full_name(text, name))
		return -EINVAL;
	return tp_registry_register(text, format, (tp_probe_t)probe, data, TRACEPOINT_DEFAULT_PRIO);
}

int marker_probe_unregister(const char *name, marker_probe_func *probe, void *data)
{
	char text[MARKER_PREFIX_LEN + TP_MARKER_NAME_MAX + 1];

	if (!full_name(text, name))
		return -EINVAL;
	return tp_probe_unregister(text, (tp_probe_t)probe, data);
}

/* ---- Introspection ---- */

void tp_for_each_tracepoint(void (*fct)(struct tracepoint *tp, void *data), void *data)
{
	tp_modules_wake();
	tp_lock(&tp_registry_lock);
	for (struct tp_module *module = tp_modules; module; module = module->next) {
		for (struct tracepoint **tp = module->tracepoints; tp < module->tracepoints_end; tp++) {
			if ((*tp)->state != TP_STATE_UNLOADED)
				fct(*tp, data);
		}
	}
	tp_unlock(&tp_registry_lock);
}

void tp_get_tracepoint_info_sized(const struct tracepoint *tp, struct tp_tracepoint_info *info, size_t size)
{
	tp_modules_wake();
	const struct tp_tracepoint_info ours = {
		.state = (enum tp_state)tp->state,
		.module = tp->module ? tp->module->path : "?",
		.nr_sites = tp_sites_count(tp),
		.nr_probes = tp->registered ? tp_probes_count(tp->registered) : 0,
	};

	memset(info, 0, size);
	memcpy(info, &ours, size < sizeof(ours) ? size : sizeof(ours));
}
