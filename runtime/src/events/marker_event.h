/* SPDX-License-Identifier: MIT */
/*
 * events/marker_event.h - markers as events. Under tp_events_lock.
 */
#ifndef TP_MARKER_EVENT_H
#define TP_MARKER_EVENT_H

#include <tp/event.h>

struct marker;

/* Gives the marker the event of its name and format, made where it is new. If there is none, a message says why. */
void tp_marker_describe(struct marker *marker);

/* The event that a marker has. NULL where there is none, or the marker was refused. */
struct tp_event *tp_marker_event(const struct tracepoint *tp);

#endif /* TP_MARKER_EVENT_H */
