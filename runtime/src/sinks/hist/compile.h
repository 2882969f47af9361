/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/compile.h - what the files share that make a program of a definition.
 */
#ifndef TP_HIST_COMPILE_H
#define TP_HIST_COMPILE_H

#include "filter/fields.h"
#include "sinks/hist/links.h"
#include "sinks/hist/program.h"

struct tp_hist_compiler {
	const struct tp_hist_definition *definition;
	const struct tp_hist_links *links;
	const struct tp_event *event;
	struct tp_hist_program *program;
	uint32_t nr_nodes; /* of the program, that are in use */
	struct tp_filter_error *error;
};

/* Always false. */
bool tp_hist_compile_fail_modifier(const struct tp_hist_compiler *c, const struct tp_hist_node *node, const char *why);

static inline const struct tp_hist_node *tp_hist_compile_root(const struct tp_hist_compiler *c, const struct tp_hist_item *item)
{
	return &c->definition->nodes[item->root];
}

/* ---- number.c ---- */

/* False: the event has no such field, and the error says which there are. */
bool tp_hist_compile_find(const struct tp_hist_compiler *c, struct tp_hist_span name, struct tp_filter_field *field);

/* What is in no record. */
bool tp_hist_compile_own(const struct tp_hist_compiler *c, const struct tp_hist_node *node, struct tp_hist_value *value);

/* A text's, or a stack's, in the record. */
const struct tp_hist_value *tp_hist_compile_bytes(struct tp_hist_compiler *c, const struct tp_filter_field *field);

/* A field that is a number, with its modifier. NULL, and the error says why. */
const struct tp_hist_value *tp_hist_compile_field(struct tp_hist_compiler *c, const struct tp_hist_node *node);

/* An expression. NULL: it is no number, and the error says why. */
const struct tp_hist_value *tp_hist_compile_number(struct tp_hist_compiler *c, uint32_t node);

/* As in struct tp_hist_layout. */
uint8_t tp_hist_compile_bytes_of(const struct tp_hist_compiler *c, const struct tp_hist_value *value);

/* The kind of a variable, by its number; and what has its value. */
enum tp_hist_kind tp_hist_compile_kind(const struct tp_hist_compiler *c, uint32_t known);
const struct tp_hist_value *tp_hist_compile_known(struct tp_hist_compiler *c, uint32_t known);

/* Whether the node is the stack of the thread. */
bool tp_hist_compile_is_stack(const struct tp_hist_compiler *c, const struct tp_hist_node *node);
bool tp_hist_compile_is_longs(const struct tp_event_field *field);

/* ---- plan.c ---- */

bool tp_hist_compile_variables(struct tp_hist_compiler *c);
bool tp_hist_compile_actions(struct tp_hist_compiler *c);

#endif /* TP_HIST_COMPILE_H */
