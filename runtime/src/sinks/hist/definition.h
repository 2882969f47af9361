/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/definition.h - what stands behind "hist:", parsed, before it is known for which events it is. All places are
 * bytes of the text.
 */
#ifndef TP_HIST_DEFINITION_H
#define TP_HIST_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sinks/hist/hist.h"

/* As in the kernel. */
#define TP_HIST_KEYS 3
#define TP_HIST_VALUES 2 /* besides the hitcount */
#define TP_HIST_SORT_KEYS 2
#define TP_HIST_VARIABLES 16
#define TP_HIST_ACTIONS 8
#define TP_HIST_PARAMS 64
#define TP_HIST_OPERATORS 3 /* of an expression */
#define TP_HIST_BITS_MIN 7
#define TP_HIST_BITS_MAX 17
#define TP_HIST_BITS 11
#define TP_HIST_TEXT_MAX 65535u

struct tp_hist_span {
	uint32_t at, len;
};

enum tp_hist_modifier {
	TP_HIST_PLAIN,
	TP_HIST_HEX,
	TP_HIST_SYM,
	TP_HIST_SYM_OFFSET,
	TP_HIST_SYSCALL,
	TP_HIST_EXECNAME,
	TP_HIST_LOG2,
	TP_HIST_USECS,
	TP_HIST_BUCKETS,
	TP_HIST_PERCENT,
	TP_HIST_GRAPH,
	TP_HIST_STACKTRACE,
};

/* As it is written, without "=N". */
extern const char *const tp_hist_modifier_names[];

enum tp_hist_node_kind {
	TP_HIST_NUMBER,
	TP_HIST_FIELD,     /* also hitcount, common_timestamp and others that are in no record */
	TP_HIST_VARIABLE,  /* $NAME or SYS.EV.$NAME */
	TP_HIST_PLUS,
	TP_HIST_MINUS,
	TP_HIST_TIMES,
	TP_HIST_DIVIDED,
	TP_HIST_NEGATED,   /* of left only */
};

struct tp_hist_node {
	enum tp_hist_node_kind kind;
	struct tp_hist_span span;       /* all of it */
	struct tp_hist_span name;       /* of a field, or of a variable without its "$" */
	struct tp_hist_span system, event; /* of a variable; empty if they were not given */
	enum tp_hist_modifier modifier;
	struct tp_hist_span modifier_span; /* with "=N", without the dot */
	uint64_t number;                /* or the buckets' size */
	uint32_t known;                 /* of a variable: links.h */
	uint32_t left, right;           /* numbers of nodes */
};

/* A key, a value, or the value of a variable. */
struct tp_hist_item {
	struct tp_hist_span span;
	uint32_t root;
	struct tp_hist_span variable; /* its name */
};

struct tp_hist_sort {
	struct tp_hist_span name;
	bool descending;
};

enum tp_hist_handler {
	TP_HIST_ONMATCH,
	TP_HIST_ONMAX,
	TP_HIST_ONCHANGE,
};

enum tp_hist_action_kind {
	TP_HIST_TRACE,
	TP_HIST_SAVE,
	TP_HIST_SNAPSHOT,
};

struct tp_hist_action {
	struct tp_hist_span span;
	enum tp_hist_handler handler;
	struct tp_hist_span system, event; /* of onmatch */
	struct tp_hist_span variable;      /* of the others, with its "$" ... */
	uint32_t known;                    /* ... and which it is: links.h */
	enum tp_hist_action_kind kind;
	struct tp_hist_span name;          /* as it is written: "save", "trace", or that of a synthetic event ... */
	struct tp_hist_span synthetic;     /* ... which is here, too */
	bool trace_keyword;
	struct tp_hist_span *params;       /* without the synthetic event's name */
	uint32_t nr_params;
};

enum tp_hist_clock {
	TP_HIST_CLOCK_GLOBAL, /* that of the traces */
	TP_HIST_CLOCK_LOCAL,  /* the same */
	TP_HIST_CLOCK_MONO,
	TP_HIST_CLOCK_MONO_RAW,
	TP_HIST_CLOCK_BOOT,
	TP_HIST_CLOCK_TAI,
	TP_HIST_NR_CLOCKS,
};

extern const char *const tp_hist_clock_names[TP_HIST_NR_CLOCKS];

struct tp_hist_definition {
	char *text;
	struct tp_hist_node *nodes;
	uint32_t nr_nodes;
	struct tp_hist_item keys[TP_HIST_KEYS], values[TP_HIST_VALUES], variables[TP_HIST_VARIABLES];
	uint32_t nr_keys, nr_values, nr_variables;
	struct tp_hist_sort sort[TP_HIST_SORT_KEYS];
	struct tp_hist_span sort_span; /* "sort=..." */
	uint32_t nr_sort;
	struct tp_hist_action actions[TP_HIST_ACTIONS];
	uint32_t nr_actions;
	struct tp_hist_span *params;   /* of all actions */
	unsigned int bits;             /* of the number of entries */
	struct tp_hist_span name;      /* empty: it has none */
	enum tp_hist_clock clock;
	bool pause, cont, clear, no_hitcount;
	bool stamps_in_usecs;          /* .usecs stands somewhere, and is for all of its common_timestamps */
};

static inline const char *tp_hist_text_at(const struct tp_hist_definition *definition, struct tp_hist_span span)
{
	return definition->text + span.at;
}

/* Whether what stands there is just that. */
bool tp_hist_span_is(const struct tp_hist_definition *definition, struct tp_hist_span span, const char *text);

/* Whether the same stands in both. */
bool tp_hist_span_same(const struct tp_hist_definition *a, struct tp_hist_span in_a, const struct tp_hist_definition *b,
		       struct tp_hist_span in_b);

/* Appends it as messages name it: "hist:...", of which not all is shown if it is long. */
void tp_hist_put_short(struct tp_buffer *to, const struct tp_hist_definition *definition);

/* Whether both have the same name, keys, values, variables, sort keys and actions. */
bool tp_hist_definition_same(const struct tp_hist_definition *a, const struct tp_hist_definition *b);

/* Of all its actions. */
uint32_t tp_hist_definition_params(const struct tp_hist_definition *definition);

/* The action that saves, of which there is at most one, or NULL. */
const struct tp_hist_action *tp_hist_saving(const struct tp_hist_definition *definition);

/* ---- expression.c ---- */

/* The number of the node that is the whole expression in *root. False: it is none, and *error says why. */
bool tp_hist_expression_parse(struct tp_hist_definition *definition, struct tp_hist_span span, uint32_t *root,
			      struct tp_filter_error *error);

/* ---- action.c ---- */

/* "HANDLER.ACTION"; its params go behind those of the actions before it. */
bool tp_hist_action_parse(struct tp_hist_definition *definition, struct tp_hist_span span, struct tp_filter_error *error);

/*
 * Words that one thread writes while another may read them: whoever does that finds out later that it
 * was in vain. Who gets a word that was written behind a mark finds the mark, too: each store is a release, and each load an
 * acquire. (Barriers in front of all of them would do, too; but ThreadSanitizer knows none.)
 */

static inline void tp_hist_words_store(uint64_t *to, const uint64_t *from, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		__atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

static inline void tp_hist_words_load(uint64_t *to, const uint64_t *from, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
}

#endif /* TP_HIST_DEFINITION_H */
