/* SPDX-License-Identifier: MIT */
/*
 * triggers/triggers.h - triggers, for those above: what an event sets off. docs/triggers.md is the language; tp/tp.h has
 * tp_trigger().
 *
 *	trigger.h   a trigger, and what its command does
 *	parse.h     a trigger's text
 *	list.h      the triggers that there are
 *
 * are the folder's own.
 */
#ifndef TP_TRIGGERS_H
#define TP_TRIGGERS_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/sink.h>

#include "base/text.h"

struct tp_trigger_request {
	struct tp_sink *sink;
	const char *patterns;
	const char *trigger;   /* with a "!" in front it is taken off */
	bool in_a_line;        /* what is wrong, without a caret */
	bool has_directory;    /* a directory was passed ... */
	int directory;         /* ... for snapshots; whatever becomes of the request, it is closed in the end */
	bool at_end;           /* if it is a histogram, tp_triggers_end() is for it, too */
	bool waits;            /* a filter that fits none of the events that there are is for those that come */
	struct tp_buffer text; /* what is wrong, or which events it is not for, or that its target is not there; or empty. For tp_buffer_free() */
};

/* As tp_trigger(). */
int tp_trigger_request(struct tp_trigger_request *request);

/*
 * Whether it can be one for some sink: 0, -EINVAL with a text, or -ENOMEM. The sink is not looked at; *alone is whether it
 * needs none. *target is the event that it switches, for free(), or NULL; it is set with 0 only.
 */
int tp_trigger_check(struct tp_trigger_request *request, bool *alone, char **target);

/*
 * Calls fct for each trigger, the latest first, with the number of its sink, and its text as the kernel has it. A lock is
 * held meanwhile: fct must not set or remove any, nor open or close sinks.
 */
void tp_triggers_each(void (*fct)(uint64_t serial, const char *patterns, const char *text, void *data), void *data);

/* Calls fct for each histogram that was set with at_end, and for none of them again. How many they are. None of a sink that is closing. */
int tp_triggers_end(void (*fct)(struct tp_sink *sink, void *data), void *data);

#endif /* TP_TRIGGERS_H */
