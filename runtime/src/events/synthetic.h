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

struct tp_buffer;
struct tp_synthetic;

#define TP_SYNTHETIC_SYSTEM "synthetic"

/* As tp_synthetic_event(), of a single line where in_a_line is set: appends to *why what is wrong. */
int tp_synthetic_define(const char *definition, bool in_a_line, struct tp_buffer *why);

/* Calls fct with the definition of each, as tp_synthetic_define() takes it, in their order. With tp_events_lock held. */
void tp_synthetics_each(void (*fct)(const char *definition, void *data), void *data);

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

#endif /* TP_SYNTHETIC_H */
