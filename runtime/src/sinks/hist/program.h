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
	TP_HIST_OP_KNOWN,    /* a variable: what the context has at constant */
	TP_HIST_OP_PLUS,     /* left and right */
	TP_HIST_OP_MINUS,
	TP_HIST_OP_TIMES,
	TP_HIST_OP_DIVIDED,
	TP_HIST_OP_NEGATED,  /* left */
};

/* An expression. */
struct tp_hist_value {
	uint8_t op;        /* enum tp_hist_op */
	bool is_signed;
	struct tp_value place;
	uint64_t constant;
	const struct tp_hist_value *left, *right;
};

/* Whatever an expression may need at a hit. */
struct tp_hist_context {
	const struct tp_record *rec;
	uint64_t now;          /* common_timestamp, if the program wants it */
	const uint64_t *known; /* variables: of others, then its own. Of a text or a stack, the address of its words */
};

/* A key, a variable, or what an action passes on. */
struct tp_hist_source {
	enum tp_hist_kind kind;
	bool own_stack;           /* of the thread; else the field at value->place */
	const struct tp_hist_value *value;
};

/* What happens at a hit, besides its being counted. */
struct tp_hist_act {
	enum tp_hist_handler handler;
	enum tp_hist_action_kind kind;
	uint32_t known;                 /* of onmax and onchange: the variable */
	struct tp_synthetic *synthetic; /* held by the links */
	uint32_t nr_params;
	struct tp_hist_source *params;
};

/* What the keys and values of all events of a histogram have in common: the first event decides. */
struct tp_hist_layout {
	enum tp_hist_kind kinds[TP_HIST_KEYS];
	bool is_cpu[TP_HIST_KEYS], is_field[TP_HIST_KEYS]; /* the processor's number; one of the event's own fields */
	bool key_signed[TP_HIST_KEYS], value_signed[TP_HIST_VALUES];
	uint8_t key_bytes[TP_HIST_KEYS];      /* of a number in its record; 8 of an expression; 0: it is none */
	uint8_t variables[TP_HIST_VARIABLES]; /* enum tp_hist_kind */
	uint8_t variable_bytes[TP_HIST_VARIABLES];
	uint8_t saved[TP_HIST_PARAMS];        /* the same, of the fields of save() */
};

struct tp_hist_program {
	struct tp_hist_program *next;          /* of the histogram */
	struct tp_hist_program *next_attached; /* of those whose event is, or was, attached */
	bool is_attached;
	uint16_t id;                           /* the event's */
	bool with_stamp;
	uint32_t nr_keys, nr_values;
	struct tp_hist_source keys[TP_HIST_KEYS];
	const struct tp_hist_value *values[TP_HIST_VALUES];
	struct tp_hist_layout layout;
	const struct tp_hist_links *links;
	uint32_t unread;                       /* those of them, by their bits, that stand for fields of this very event */
	bool acts;                             /* it has variables, others' included, or actions */
	uint32_t nr_blobs;                     /* texts and stacks that a hit has to copy */
	uint32_t nr_variables, nr_acts;
	struct tp_hist_source *variables;
	struct tp_hist_source *params;         /* of all actions; behind the variables */
	struct tp_hist_act *acts_of;
	struct tp_hist_value *nodes;           /* of all expressions */
	char name[];                           /* "system:event" */
};

/* NULL, and *error says why: it does not fit the event. */
struct tp_hist_program *tp_hist_program_new(const struct tp_hist_definition *definition, const struct tp_hist_links *links,
					    const struct tp_event *event, struct tp_filter_error *error);
void tp_hist_program_free(struct tp_hist_program *program);

/* What a table needs room for. */
struct tp_hist_shape tp_hist_shape_of(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout);

/* Whether the keys and variables of both are in one table. */
bool tp_hist_layout_same(const struct tp_hist_definition *definition, const struct tp_hist_layout *a,
			 const struct tp_hist_layout *b);

/* What is sorted by: 0, the hitcount; from 1, a value; from 1 + TP_HIST_VALUES, a key. TP_HIST_NO_FIELD: none of them. */
#define TP_HIST_NO_FIELD UINT32_MAX
uint32_t tp_hist_sort_index(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout,
			    const struct tp_hist_sort *sort);

/* ---- evaluate.c: in probes ---- */

uint64_t tp_hist_evaluate(const struct tp_hist_value *value, const struct tp_hist_context *context);

/* Appends a text, or a stack, to a key. */
void tp_hist_key_add(struct tp_count_key *to, const struct tp_hist_source *source, const struct tp_record *rec);

/*
 * The number; or the address of a text's or a stack's words, as variables have them, which are in *blobs if they were not
 * in memory before. That moves behind them.
 */
uint64_t tp_hist_word(const struct tp_hist_source *source, const struct tp_hist_context *context, uint64_t **blobs);

/* ---- act.c: in probes ---- */

struct tp_hist;

/* Counts the record. now is common_timestamp, if the program wants it. */
void tp_hist_hit(struct tp_hist *hist, struct tp_hist_table *table, const struct tp_hist_program *program,
		 const struct tp_record *rec, uint64_t now);

#endif /* TP_HIST_PROGRAM_H */
