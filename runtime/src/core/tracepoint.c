/* SPDX-License-Identifier: MIT */
/*
 * core/tracepoint.c - the functions of tp/tracepoint.h that ask something of a
 * tracepoint, for which the modules must be linked.
 */
#include <string.h>

#include "core/core.h"
#include "core/registry.h"
#include "core/site.h"

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
