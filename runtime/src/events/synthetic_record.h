/* SPDX-License-Identifier: MIT */
/*
 * events/synthetic_record.h - a synthetic event as a tracepoint: its probes, its record writer, and its printer.
 */
#ifndef TP_SYNTHETIC_RECORD_H
#define TP_SYNTHETIC_RECORD_H

#include "events/synthetic_format.h"
#include "events/record_words.h"

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

#endif /* TP_SYNTHETIC_RECORD_H */
