/* SPDX-License-Identifier: MIT */
/*
 * events/events.h - events and what is enabled, for sinks and whoever opens
 * them.
 *
 *	field.h          what a field is to formats that have types
 *	pattern.h        lists of globs, and where a rule ends
 *	synthetic.h      events that are defined while the program runs
 *
 * are for those above, too;
 *
 *	event_ids.h      the events of the loaded modules
 *	filtering.h      a sink that passes on what a filter accepts; what was enabled, with which filter
 *	armed.h          events that triggers switch
 *	retired.h        memory that readers may still use
 *	attach.h         the open sinks, and which events are attached to them
 *	marker_event.h   markers as events
 *	marker_format.h  what a marker's format says
 *	synthetic_record.h, synthetic_format.h
 *	                 synthetic events as tracepoints; what their definition says
 *	record_words.h   from words to a record, of both; which of them has an id
 *
 * are the folder's own.
 */
#ifndef TP_EVENTS_H
#define TP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/sink.h>

#include "base/locks.h"
#include "base/text.h"

/* Event ids are below it; 0 is none. */
#define TP_NR_IDS 65536u

/* There are some: their writers must not be trusted. Under tp_events_lock. */
extern bool tp_events_without_id;

/*
 * From here on the events of all modules are known, those that are loaded
 * already, too. Called wherever events/ is entered, while holding no lock; only
 * the first call does something. -ENOMEM: not those of all modules; the next call tries again.
 */
int tp_events_start(void);
/* The first part of that, without looking at any event: at the start of a program, which may be in a sandbox later. */
void tp_events_listen(void);

/* A number that no other sink ever has; and the sink that has it, or NULL where that was closed. */
uint64_t tp_sink_serial(struct tp_sink *sink);
struct tp_sink *tp_sink_of_serial(uint64_t serial);

/* What describe_event() of the library's own sinks may return: the event stays off in the sink, and nothing is said. */
#define TP_NOT_FOR_SINK 1

/* Whether the event was described to the sink, and it has not refused it. */
bool tp_sink_has(struct tp_sink *sink, const struct tp_event *event);

/* Whether any event was ever attached to the sink. */
bool tp_sink_used(struct tp_sink *sink);

/*
 * The output that has this number, which stays until it is let go, or NULL where that was closed. If somebody closes it
 * meanwhile, nothing is attached to it any more, tp_enable() refuses it, and tp_sink_close() waits for the one that holds
 * it. Whoever holds it must not close it. In a forked child nobody holds anything: whoever forked just goes on.
 */
struct tp_sink *tp_sink_hold(uint64_t serial);
void tp_sink_let_go(struct tp_sink *sink);

/* As tp_sink_close(), but by the number: -ENOENT where somebody else has closed it, or is doing so. */
int tp_sink_close_serial(uint64_t serial);

/*
 * For ever; there is one. Called for each sink that is being closed: nothing is attached to it any more, and nobody holds
 * it, but it takes records still. No lock is held.
 */
void tp_sinks_listen(void (*fct)(struct tp_sink *sink));

/* The priority of the sink's probes, before the first is enabled: those of outputs have TRACEPOINT_DEFAULT_PRIO. */
void tp_sink_set_priority(struct tp_sink *sink, int priority);
int tp_sink_priority(const struct tp_sink *sink);

/* The sink is a trigger's, and no output: tp_sinks_each() and tp_events_sinks() leave it out. */
void tp_sink_hide(struct tp_sink *sink);

/* ---- armed.c, arm.c: events that triggers switch ---- */

struct tp_armed;

/*
 * From here on the event, "system:event", is attached to the sink, and tp_armed_switch() says whether it is on; at first it
 * is as it was. tp_enable() and tp_disable() switch it, too. The module that has it may come later. May be called several
 * times for an event. NULL: *error is -ENOMEM, -EPERM as for tp_enable(), or -EINVAL: the sink is being closed.
 */
struct tp_armed *tp_armed_begin(struct tp_sink *sink, const char *name, int *error);

/* For each tp_armed_begin(). After the last, the event stays as it is, on or off. No reader may use *armed any more. */
void tp_armed_end(struct tp_sink *sink, struct tp_armed *armed);

/* Takes effect at once; returns whether it has changed anything. Both are safe in signal handlers. */
bool tp_armed_switch(struct tp_armed *armed, bool on);
bool tp_armed_is_on(const struct tp_armed *armed);

/* ---- enable.c: with a filter ---- */

struct tp_enable_report {
	bool in_a_line; /* what is wrong with the filter, without a caret */
	bool waits;     /* a filter that fits none of the events that there are is for those that come */
	struct tp_buffer text; /* what is wrong, or which events are as they were; or empty. For tp_buffer_free() */
};

/* As tp_enable_if(). */
int tp_enable_filtered(struct tp_sink *sink, const char *patterns, const char *filter, struct tp_enable_report *report);

/* ---- view.c: what is open and enabled ---- */

struct tp_losses;
struct tp_rule;

struct tp_sink_view {
	uint64_t serial;
	const char *kind; /* what the sink's operations call it: "text", "CTF" ... */
	const struct tp_sink *sink;
	unsigned int nr_attached; /* events */
	bool is_on;               /* no trigger has switched recording off */
	unsigned long lost[TP_NR_LOST];
	const struct tp_losses *losses; /* of forked children */
	const struct tp_rule *rules;
};

/*
 * Calls fct for each open sink, in the order in which they were opened, under tp_events_lock: fct must not open, close
 * or enable anything. A view ends with the call.
 */
void tp_sinks_each(void (*fct)(const struct tp_sink_view *view, void *data), void *data);

/*
 * Inside that, calls fct for each rule, the earliest first, with the patterns and the filter (or NULL) as they were given.
 * The last that matches an event, and whose filter fits it, decides.
 */
void tp_sink_view_rules(const struct tp_sink_view *view,
			void (*fct)(bool enable, const char *patterns, const char *filter, void *data), void *data);

/*
 * Calls fct for each sink to which the event is attached, or another module's event of its name, in the order in which
 * the sinks were opened. Inside a callback of tp_for_each_event() only, whose lock it needs.
 */
void tp_events_sinks(const struct tp_event *event, void (*fct)(uint64_t serial, void *data), void *data);

/* Whether any event that the process has ever had matches these patterns. */
bool tp_events_match(const char *patterns);

/* How many events have been there so far, by their names: it grows whenever one comes that was never there. */
size_t tp_events_known(void);

/* Whether the process has ever had an event of this name, "system:event", in which no character stands for others. */
bool tp_events_know(const char *name);

struct tp_pattern;

/* Whether any matches both, or they are the same. */
bool tp_patterns_meet(const struct tp_pattern *one, const struct tp_pattern *other);

#endif /* TP_EVENTS_H */
