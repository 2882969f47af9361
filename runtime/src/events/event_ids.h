/* SPDX-License-Identifier: MIT */
/*
 * events/event_ids.h - the events of the loaded modules. All under
 * tp_events_lock.
 */
#ifndef TP_EVENT_IDS_H
#define TP_EVENT_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/event.h>
#include <tp/module.h>

/* An event of a loaded module; struct tp_event's reserved[0]. */
struct tp_loaded_event {
	struct tp_loaded_event *next, *previous; /* of all, by id */
	struct tp_loaded_event *group_next; /* of the group, by time of loading */
	struct tp_event_group *group;
	struct tp_event *event;
	unsigned int loads; /* more than 1 where two modules announce one and the same (exported) event */
	bool fresh;         /* to a sink that is being told of new events */
};

/* The events of one name, of which each module may carry one. Never freed: a module may come back. */
struct tp_event_group {
	struct tp_event_group *next; /* of the same hash */
	size_t number;
	struct layout *layouts; /* event_ids.c's; NULL: there never was an event */
	uint32_t hash;          /* of the event's name */
	struct tp_loaded_event *events;
	char name[]; /* "system:event" */
};

extern struct tp_loaded_event *tp_loaded_events; /* by id */

/* All groups that there ever were. */
struct tp_group_table {
	struct tp_event_group **by_number;
	size_t nr;
	size_t room; /* elements of by_number */
};

extern struct tp_group_table tp_groups;

/* The group of "system:event", which need not have any event yet. NULL: no memory. */
struct tp_event_group *tp_group_of(const char *system, const char *event);

/* The first of the module's events, then the next: its own, then those of its markers, some of them more than once. */
struct tp_event *tp_events_at(const struct tp_module *module, size_t *i);

void tp_events_load(struct tp_module *module);

/* Takes one event away, and returns the group that it has left. NULL where the event stays, or was refused. */
const struct tp_event_group *tp_events_unload(struct tp_event *event);

/* The readers of the module's events are gone. */
void tp_events_settle(struct tp_module *module);

#endif /* TP_EVENT_IDS_H */
