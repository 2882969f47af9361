/* SPDX-License-Identifier: MIT */
/*
 * events/synthetic.h - synthetic events: events of system "synthetic" that are defined while the program runs, and whose
 * records are made by whoever knows their values.
 *
 * Such an event is a module with one tracepoint, "synthetic:NAME", and one event. So sinks, patterns and filters treat it
 * as any other.
 */
#ifndef TP_SYNTHETIC_H
#define TP_SYNTHETIC_H

#include <stdint.h>

#include <tp/event.h>

#include "events/record_words.h"
#include "events/synthetic_format.h"

struct tp_buffer;
struct tp_synthetic;

#define TP_SYNTHETIC_SYSTEM "synthetic"

/* As tp_synthetic_event(), of a single line where in_a_line is set: appends to *why what is wrong. */
int tp_synthetic_define(const char *definition, bool in_a_line, struct tp_buffer *why);

/*
 * The event of that name, which can't be removed until it is let go; NULL: there is none. Neither while holding
 * tp_events_lock.
 */
struct tp_synthetic *tp_synthetic_hold(const char *name);
void tp_synthetic_let_go(struct tp_synthetic *synthetic);

/* Its fields, in the order of the words. */
const struct tp_event *tp_synthetic_described(const struct tp_synthetic *synthetic);

/*
 * Calls its probes: each writes a record. There is a word for each field: an integer, or the address of what it has: of a
 * text (NULL: "(null)"), or of words that are the addresses of a stack, up to a 0 or TP_WORDS_STACK_MAX. Safe in signal handlers, and
 * inside a probe. Does nothing if nobody listens. The event must be held.
 */
void tp_synthetic_hit(struct tp_synthetic *synthetic, const uint64_t *words);

/* ---- A synthetic event as a tracepoint: its probes, its record writer, and its printer ---- */

/* What the writer and the printer need to know. */
struct tp_synthetic_event {
	struct tp_event event;
	struct tp_words words;
	struct tp_word_step steps[TP_SYNTHETIC_FIELDS_MAX];
	struct tp_synthetic_format format;
};

/* A probe of its tracepoint, and their prototype as text. */
typedef void tp_synthetic_probe(void *data, const struct tp_event *event, const uint64_t *words);
#define TP_SYNTHETIC_PROTO "const struct tp_event *, const uint64_t *"

/* The record writer: a probe whose data is a sink. */
tp_synthetic_probe tp_synthetic_record;

/* Appends a record's text, of an event that tp_by_id() knows. */
void tp_synthetic_print(struct trace_seq *p, const void *entry);

/* Sets words and steps by what format says. */
void tp_synthetic_plan(struct tp_synthetic_event *to);

/* Calls the probes of its tracepoint. */
void tp_synthetic_iterate(const struct tp_synthetic_event *to, const uint64_t *words);

#endif /* TP_SYNTHETIC_H */
