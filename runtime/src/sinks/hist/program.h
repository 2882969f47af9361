/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/program.h - a definition as it is for the records of one layout: where its keys and values are.
 */
#ifndef TP_HIST_PROGRAM_H
#define TP_HIST_PROGRAM_H

#include <tp/sink.h>

#include "filter/value.h"
#include "sinks/hist/definition.h"
#include "sinks/hist/table.h"

enum tp_hist_op {
	TP_HIST_OP_FIELD,    /* a number of the record, or the processor's */
	TP_HIST_OP_CONSTANT,
	TP_HIST_OP_STAMP,    /* common_timestamp */
	TP_HIST_OP_LOG2,     /* of left, rounded up */
	TP_HIST_OP_BUCKETS,  /* left, rounded down to a multiple of constant */
};

/* An expression. */
struct tp_hist_value {
	uint8_t op;        /* enum tp_hist_op */
	bool is_signed;
	struct tp_value place;
	uint64_t constant;
	const struct tp_hist_value *left;
};

enum tp_hist_kind {
	TP_HIST_KEY_NUMBER,
	TP_HIST_KEY_TEXT,
	TP_HIST_KEY_STACK,
};

struct tp_hist_key_source {
	enum tp_hist_kind kind;
	bool own_stack;           /* of the thread; else the field at value->place */
	const struct tp_hist_value *value;
};

/* What the keys and values of all events of a histogram have in common: the first event decides. */
struct tp_hist_layout {
	enum tp_hist_kind kinds[TP_HIST_KEYS];
	bool is_cpu[TP_HIST_KEYS], is_field[TP_HIST_KEYS]; /* the processor's number; one of the event's own fields */
	bool key_signed[TP_HIST_KEYS], value_signed[TP_HIST_VALUES];
};

struct tp_hist_program {
	struct tp_hist_program *next;          /* of the histogram */
	struct tp_hist_program *next_attached; /* of those whose event is, or was, attached */
	bool is_attached;
	uint16_t id;                           /* the event's */
	bool with_stamp, with_comm;
	uint32_t nr_keys, nr_values;
	struct tp_hist_key_source keys[TP_HIST_KEYS];
	const struct tp_hist_value *values[TP_HIST_VALUES];
	struct tp_hist_layout layout;
	struct tp_hist_value *nodes;           /* of all expressions */
	char name[];                           /* "system:event" */
};

/* NULL, and *error says why: it does not fit the event. */
struct tp_hist_program *tp_hist_program_new(const struct tp_hist_definition *definition, const struct tp_event *event,
					    struct tp_filter_error *error);
void tp_hist_program_free(struct tp_hist_program *program);

/* Words of a key at most. */
uint32_t tp_hist_layout_words(const struct tp_hist_layout *layout, uint32_t nr_keys);

/* Whether the keys of both are in one table. */
bool tp_hist_layout_same(const struct tp_hist_layout *a, const struct tp_hist_layout *b, uint32_t nr_keys);

/* What is sorted by: 0, the hitcount; from 1, a value; from 1 + TP_HIST_VALUES, a key. TP_HIST_NO_FIELD: none of them. */
#define TP_HIST_NO_FIELD UINT32_MAX
uint32_t tp_hist_sort_index(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout,
			    const struct tp_hist_sort *sort);

/* ---- hit.c: in probes ---- */

/* Counts the record. now is common_timestamp, if the program wants it. */
void tp_hist_hit(struct tp_hist_table *table, const struct tp_hist_program *program, const struct tp_record *rec, uint64_t now);

#endif /* TP_HIST_PROGRAM_H */
