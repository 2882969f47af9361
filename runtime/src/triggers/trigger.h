/* SPDX-License-Identifier: MIT */
/*
 * triggers/trigger.h - a trigger, and what its command does.
 *
 * A trigger is a sink of its own on the events that fire it: so filters, modules that come later, and the arming of sites
 * are those of any sink. What the command does happens in the sink's reserve: no record is made, unless a filter wants it.
 */
#ifndef TP_TRIGGER_H
#define TP_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/sink.h>

#include "base/file.h"
#include "base/text.h"
#include "events/pattern.h"
#include "filter/filter.h"

struct tp_trigger;

/* Of triggers of one kind, an event and a sink have but one; if they have targets, one for each target. */
enum tp_trigger_kind {
	TP_TRIGGER_RECORDING,
	TP_TRIGGER_EVENT,
	TP_TRIGGER_SNAPSHOT,
	TP_TRIGGER_STACKTRACE,
	TP_TRIGGER_HIST,
	TP_TRIGGER_HIST_SWITCH,
};

struct tp_trigger_command {
	const char *name;
	enum tp_trigger_kind kind;
	int priority;    /* of its probes: above that of an output, it is done before the event is recorded, else afterwards */
	bool has_target; /* SYSTEM:EVENT stands behind the name */
	bool may_wait;   /* ":after=TIME" may stand at the end */
	bool takes_all;  /* what stands behind the name, up to the filter, is its own affair */
	bool alone;      /* it acts on no sink, unless its argument wants one */
	bool (*wants_sink)(const char *argument); /* optional */
	/*
	 * For takes_all: its argument is parsed; what it asks of a trigger that is there is done (1: it was, 0: it asks nothing);
	 * it makes the sink on its events. 0 or a negative errno value, with what is wrong at which place of the argument.
	 */
	int (*parse)(struct tp_trigger *trigger, struct tp_filter_error *error);
	int (*change)(const struct tp_trigger *trigger);
	int (*open)(struct tp_trigger *trigger, struct tp_filter_error *error);
	/* Whether its sink has a use for the events: their number; or an error, as above, if it has none for any of them. */
	int (*fits)(const struct tp_trigger *trigger, const char *patterns, struct tp_filter_error *error);
	/* Why it may never do anything, for a person; waits: but for want of an event. Optional */
	void (*doubt)(const struct tp_trigger *trigger, bool waits, struct tp_buffer *why);
	/* Whether one, which is not set, is the same trigger as the other; and its text. */
	bool (*is_same)(const struct tp_trigger *one, const struct tp_trigger *other);
	int (*leave)(const struct tp_trigger *trigger, struct tp_buffer *why); /* may it be taken off? *why is for a person. Optional */
	void (*put)(struct tp_buffer *to, const struct tp_trigger *trigger);
	void (*free)(struct tp_trigger *trigger); /* what parse() has made, if it has */
	/*
	 * Before the trigger's events are armed. 0 or a negative errno value; what it appends to *why is for a person.
	 * Optional.
	 */
	int (*begin)(struct tp_trigger *trigger, struct tp_buffer *why);
	/* Called by readers, in any context: takes no lock, allocates nothing. Not for those that make a sink. */
	void (*fire)(struct tp_trigger *trigger, const struct tp_event *event);
	/* After begin(), when no reader is in fire() any more. Optional. */
	void (*end)(struct tp_trigger *trigger);
};

#define TP_TRIGGER_UNLIMITED UINT64_MAX

struct tp_trigger {
	struct tp_sink head; /* its own, if its command makes none */
	struct tp_sink *own; /* the one that is on its events */
	struct tp_trigger *next;
	const struct tp_trigger_command *command;
	struct tp_sink *sink; /* that it acts on ... */
	uint64_t serial;      /* ... and its number */
	struct tp_pattern *patterns;
	char *filter;         /* or NULL */
	char *target;         /* "system:event", or NULL */
	char *argument;       /* takes_all: the text; or NULL */
	struct tp_hist_definition *definition; /* TP_TRIGGER_HIST: what that says */
	uint64_t count;       /* how often it still fires */
	struct tp_armed *armed; /* TP_TRIGGER_EVENT: the target */
	struct tp_trigger_snapshot *snapshot; /* TP_TRIGGER_SNAPSHOT: its state */
	uint64_t after_ns;    /* how long it waits before it does something */
	bool has_directory;   /* one was passed for its snapshots */
	struct tp_guarded_fd directory;
	bool at_end;          /* its histogram is shown when the program ends */
	bool in_use;          /* it is set, and stays so while somebody works on it */
	int32_t setter;       /* the thread that is setting it; 0: it is set */
};

/* One time less to fire. False: it has fired as often as it was to. */
static inline bool tp_trigger_take(struct tp_trigger *trigger)
{
	uint64_t count = __atomic_load_n(&trigger->count, __ATOMIC_RELAXED);

	do {
		if (count == 0 || count == TP_TRIGGER_UNLIMITED)
			return count != 0;
	} while (!__atomic_compare_exchange_n(&trigger->count, &count, count - 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* It did not fire after all. */
static inline void tp_trigger_give_back(struct tp_trigger *trigger)
{
	if (__atomic_load_n(&trigger->count, __ATOMIC_RELAXED) != TP_TRIGGER_UNLIMITED)
		__atomic_fetch_add(&trigger->count, 1, __ATOMIC_RELAXED);
}

/* ---- What triggers can do ---- */

extern const struct tp_trigger_command tp_trigger_traceon, tp_trigger_traceoff;           /* switching.c */
extern const struct tp_trigger_command tp_trigger_enable_event, tp_trigger_disable_event; /* switching.c */
extern const struct tp_trigger_command tp_trigger_snapshot;                               /* snapshot.c */
extern const struct tp_trigger_command tp_trigger_stacktrace;                             /* stacktrace.c */
extern const struct tp_trigger_command tp_trigger_hist, tp_trigger_enable_hist, tp_trigger_disable_hist; /* hist.c */

/* The command of this name. NULL: there is none. */
const struct tp_trigger_command *tp_trigger_command_of(const char *name, size_t len);

/* Appends all names, for a message. */
void tp_trigger_command_names(struct tp_buffer *to);

#endif /* TP_TRIGGER_H */
