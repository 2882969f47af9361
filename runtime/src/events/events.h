/* SPDX-License-Identifier: MIT */
/*
 * events/events.h - events and what is enabled, for sinks and whoever opens
 * them.
 *
 *	field.h          what a field is to formats that have types
 *	pattern.h        lists of globs
 *
 * are for those above, too;
 *
 *	groups.h         the events of the loaded modules
 *	attach.h         the open sinks, and which events are attached to them
 *	marker_event.h   markers as events
 *	marker_format.h  what a marker's format says
 *
 * are the folder's own.
 */
#ifndef TP_EVENTS_H
#define TP_EVENTS_H

#include <stdbool.h>

#include <tp/sink.h>

#include "base/lock.h"

/* Event ids are below it; 0 is none. */
#define TP_NR_IDS 65536u

/* Guards all that is known of events and of open sinks. */
extern struct tp_lock tp_events_lock;

/* There are some: their writers must not be trusted. Under tp_events_lock. */
extern bool tp_events_without_id;

/*
 * From here on the events of all modules are known, those that are loaded
 * already, too. Called wherever events/ is entered, while holding no lock; only
 * the first call does something.
 */
void tp_events_start(void);

/* Whether any event was ever attached to the sink. */
bool tp_sink_used(struct tp_sink *sink);

#endif /* TP_EVENTS_H */
