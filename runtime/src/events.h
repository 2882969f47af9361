/* SPDX-License-Identifier: MIT */
/*
 * events.h - the events of the loaded modules, as enable.c sees them. All
 * under tp_events_lock.
 */
#ifndef TP_EVENTS_H
#define TP_EVENTS_H

#include "internal.h"

/* An event of a loaded module; struct tp_event's reserved[0]. */
struct loaded {
	struct loaded *next;       /* of all, by id */
	struct loaded *group_next; /* of the group, by time of loading */
	struct group *group;
	struct tp_event *event;
	unsigned int loads; /* more than 1 where two modules announce one and the same (exported) event */
	bool fresh;         /* to a sink that is being told of new events */
};

/* Never freed: its module may come back. */
struct group {
	struct group *next; /* of the same hash */
	size_t number;
	struct layout *layouts; /* events.c's */
	struct loaded *events;
	char name[]; /* "system:event" */
};

extern struct loaded *tp_loaded_events; /* by id */

/* All groups that there ever were. */
struct group_table {
	struct group **by_number;
	size_t nr;
	size_t room; /* elements of by_number */
};

extern struct group_table tp_groups;

#endif /* TP_EVENTS_H */
