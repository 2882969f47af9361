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

/* A number that no other sink ever has; and the sink that has it, or NULL where that was closed. */
uint64_t tp_sink_serial(struct tp_sink *sink);
struct tp_sink *tp_sink_of_serial(uint64_t serial);

/* Whether any event was ever attached to the sink. */
bool tp_sink_used(struct tp_sink *sink);

/* Whether any event that the process has ever had matches these patterns. */
bool tp_events_match(const char *patterns);

#endif /* TP_EVENTS_H */
