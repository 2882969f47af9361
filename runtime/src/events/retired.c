/* SPDX-License-Identifier: MIT */
/*
 * events/retired.c - see retired.h.
 */
#include <stddef.h>

#include "base/hit.h"
#include "core/core.h"
#include "events/events.h"
#include "events/retired.h"

static struct tp_retired *all; /* under tp_events_lock */

void tp_retire(struct tp_retired *retired, void (*free)(struct tp_retired *retired))
{
	*retired = (struct tp_retired){.next = all, .free = free};
	all = retired;
}

/* Those of the module, or those that nobody waits for. */
static struct tp_retired *take(const struct tp_module *module)
{
	struct tp_retired *taken = NULL;

	for (struct tp_retired **at = &all; *at;) {
		struct tp_retired *retired = *at;
		if (retired->module != module) {
			at = &retired->next;
			continue;
		}
		*at = retired->next;
		retired->next = taken;
		taken = retired;
	}
	return taken;
}

static void free_all(struct tp_retired *retired)
{
	while (retired) {
		struct tp_retired *next = retired->next;
		retired->free(retired);
		retired = next;
	}
}

void tp_retired_settle(void)
{
	if (tp_reading())
		return;
	tp_lock(&tp_events_lock);
	struct tp_retired *taken = take(NULL);
	tp_unlock(&tp_events_lock);
	if (taken)
		tracepoint_synchronize_unregister();
	else
		tp_registry_settle_probes();
	free_all(taken);
}

bool tp_retired_leave_to(const struct tp_module *module)
{
	bool any = false;

	for (struct tp_retired *retired = all; retired; retired = retired->next) {
		if (!retired->module)
			retired->module = module;
		any = any || retired->module == module;
	}
	return any;
}

void tp_retired_free_of(const struct tp_module *module)
{
	free_all(take(module));
}
