/* SPDX-License-Identifier: MIT */
/*
 * events/attach.h - the open sinks, and which events are attached to which.
 * All under tp_events_lock.
 */
#ifndef TP_ATTACH_H
#define TP_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/module.h>
#include <tp/sink.h>

#include "events/event_ids.h"
#include "events/events.h"
#include "events/filtering.h"
#include "record/losses.h"

/* What of a group is attached to a sink. */
struct tp_attached {
	struct tp_event *event;         /* NULL: none is */
	struct tp_filtering *filtering; /* what its writer has as the sink; NULL: the sink itself */
	struct tp_armed *armed;           /* triggers switch it: it is attached, whether it is on or not */
};

/* What is known of an open sink; struct tp_sink's reserved[0]. */
struct tp_sink_state {
	struct tp_sink_state *next;
	struct tp_sink *sink;
	struct tp_sink_ops ops;        /* a copy of those of an older interface, which are shorter */
	struct tp_losses losses;       /* of forked children */
	struct tp_rule *rules;         /* the last that is about an event decides */
	struct tp_attached *attached;  /* by group number */
	size_t nr_attached;
	uint64_t serial; /* no other sink ever has it */
	int priority;      /* of its probes */
	bool hidden;       /* it is a trigger's, and no output */
	bool used; /* something was attached at some time */
	bool closing;      /* it is not among tp_sinks any more, and nothing is attached again */
	unsigned int held; /* by tp_sink_hold() */
	uint8_t described[TP_NR_IDS / 8]; /* a bit an id */
};

extern struct tp_sink_state *tp_sinks; /* by their next */

/*
 * Makes what is attached to the sink what its rules say, but for the sites,
 * which tp_registry_switch() switches. Returns how many events were switched on
 * less those that were switched off. *error becomes -ENOMEM where some stay off
 * for want of memory.
 */
int tp_attach_by_rules(struct tp_sink_state *state, int *error);

/*
 * The same for one group. 1: it was switched on, -1: off, 0: neither. -ENOMEM is in *error; another one stays without
 * further consequence (the user has registered the writer himself, for one).
 */
int tp_attach_group(struct tp_sink_state *state, const struct tp_event_group *group, int *error);

void tp_detach_all(struct tp_sink_state *state);

/* The event of the group that is attached to the sink, or NULL. */
struct tp_event *tp_attached_of(const struct tp_sink_state *state, const struct tp_event_group *group);

/* Whether one is, and no trigger has switched it off. */
bool tp_attached_is_on(const struct tp_sink_state *state, const struct tp_event_group *group);

/* Where it is said what of the group is attached, made if need be. NULL: no memory. */
struct tp_attached *tp_attached_room(struct tp_sink_state *state, const struct tp_event_group *group);

/* Whether the rules say that the group's event is to be on. */
bool tp_attach_is_wanted(const struct tp_sink_state *state, const struct tp_event_group *group);

/* The event of the group that would be attached: one that is already, if any. NULL: none is loaded and described. */
struct tp_event *tp_attachable_of(const struct tp_sink_state *state, const struct tp_event_group *group);

/* The program of the filter through which the group's event is attached, or NULL. */
const struct tp_filter_program *tp_attached_program(const struct tp_sink_state *state, const struct tp_event_group *group);

/* ---- describe.c: what the sinks are told ---- */

/* Whether the event was described to the sink, which has not refused it. */
static inline bool tp_sink_knows(const struct tp_sink_state *state, const struct tp_event *event)
{
	return state->described[event->id / 8] & 1u << event->id % 8;
}

/* Tells a sink that comes of all events. 0, -ENOMEM, or what its write_descriptions() has returned. */
int tp_sink_describe_all(struct tp_sink_state *state);

/* Tells the sinks of a module's events, and attaches those that are enabled. */
void tp_sinks_load(struct tp_module *module);

/* An event has left the group: off goes its writer, on another's of the group. */
void tp_sinks_follow(const struct tp_event_group *group);

/* ---- attach.c again ---- */

void tp_attach_start(void); /* once a process; not under the lock */

#endif /* TP_ATTACH_H */
