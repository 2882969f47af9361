/* SPDX-License-Identifier: MIT */
/*
 * events/modules.c - the events of modules that come and go: they are told to
 * the sinks.
 */
#define TP_RUNTIME /* and so no module, see tp/marker.h */

#include <pthread.h>

#include <tp/marker.h>

#include "core/core.h"
#include "events/attach.h"
#include "events/events.h"
#include "events/event_ids.h"
#include "events/marker_event.h"
#include "events/retired.h"
#include "print/description.h"

/*
 * A marker may be on as soon as it is linked to its name; its writer wants the
 * event. The lock is held until the module is loaded: what tp_enable() is
 * switching on or takes back must not be mixed with that.
 */
static void coming(struct tp_module *module)
{
	tp_lock(&tp_events_lock);
	for (struct marker **at = module->markers; at < module->markers_end; at++)
		tp_marker_describe(*at);
}

static void load(struct tp_module *module)
{
	tp_events_load(module);
	tp_sinks_load(module);
	tp_unlock(&tp_events_lock);
}

/*
 * False where all its events are on tracepoints of the module's own, whose readers the core looks after, and nothing
 * else is left over that readers may use.
 */
static bool unload(struct tp_module *module)
{
	struct tp_event *event;
	bool custom = false;

	tp_lock(&tp_events_lock);
	for (size_t i = 0; (event = tp_events_at(module, &i));) {
		const struct tp_event_group *left = tp_events_unload(event);
		if (!left)
			continue;
		custom = custom || !(event->tracepoint->registered || tp_is_marker(event->tracepoint));
		tp_sinks_follow(left);
	}
	custom = tp_retired_leave_to(module) || custom;
	tp_unlock(&tp_events_lock);
	return custom;
}

static void settle(struct tp_module *module)
{
	tp_lock(&tp_events_lock);
	tp_events_settle(module);
	tp_retired_free_of(module);
	tp_unlock(&tp_events_lock);
}

static void start(void)
{
	static const struct tp_module_hook hook = {
		.coming = coming, .load = load, .unload = unload, .settle = settle,
	};

	tp_attach_start();
	tp_modules_listen(&hook);
}

void tp_events_listen(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

int tp_events_start(void)
{
	tp_events_listen();
	return tp_modules_wake();
}

void tp_for_each_event(void (*fct)(const struct tp_event *event, void *data), void *data)
{
	tp_events_start();
	tp_lock(&tp_events_lock);
	for (const struct tp_loaded_event *loaded = tp_loaded_events; loaded; loaded = loaded->next)
		fct(loaded->event, data);
	tp_unlock(&tp_events_lock);
}

void tp_for_each_marker(void (*fct)(struct marker *marker, void *data), void *data)
{
	tp_events_start();
	tp_lock(&tp_registry_lock);
	for (struct tp_module *module = tp_modules; module; module = module->next) {
		for (struct marker **at = module->markers; at < module->markers_end; at++) {
			if ((*at)->tp.state != TP_STATE_UNLOADED)
				fct(*at, data);
		}
	}
	tp_unlock(&tp_registry_lock);
}

int tp_event_format(const struct tp_event *event, struct trace_seq *s)
{
	if (event && !event->event_class)
		tp_events_start(); /* fills it in */
	return tp_format_append(event, s);
}
