/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/compile.c - a definition becomes a program for an event's records. What may be a key or a value, and with
 * which modifier, is as in the kernel's trace_events_hist.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sinks/hist/compile.h"

#define BAD_MODIFIER "Invalid field modifier"

static bool fail(const struct tp_hist_compiler *c, size_t at, const char *message)
{
	return tp_filter_fail(c->error, at, message);
}

/* ---- Keys ---- */

static bool bytes_key(struct tp_hist_compiler *c, struct tp_hist_source *key, enum tp_hist_kind kind, const struct tp_filter_field *field)
{
	key->kind = kind;
	key->value = tp_hist_compile_bytes(c, field);
	return true;
}

static bool number_key(struct tp_hist_compiler *c, struct tp_hist_source *key, const struct tp_hist_item *item)
{
	key->kind = TP_HIST_KEY_NUMBER;
	key->value = tp_hist_compile_number(c, item->root);
	return key->value != NULL;
}

static bool field_key(struct tp_hist_compiler *c, struct tp_hist_source *key, const struct tp_hist_item *item,
		      const struct tp_hist_node *node)
{
	struct tp_hist_layout *layout = &c->program->layout;
	struct tp_filter_field field;
	struct tp_hist_value own;

	if (node->modifier == TP_HIST_PERCENT || node->modifier == TP_HIST_GRAPH)
		return tp_hist_compile_fail_modifier(c, node, "percent and graph are for values");
	if (tp_hist_compile_own(c, node, &own))
		return number_key(c, key, item);
	if (!tp_hist_compile_find(c, node->name, &field))
		return false;
	layout->is_field[key - c->program->keys] = field.is_own;
	if (node->modifier == TP_HIST_STACKTRACE)
		return tp_hist_compile_is_longs(&field.described) ? bytes_key(c, key, TP_HIST_KEY_STACK, &field)
						 : tp_hist_compile_fail_modifier(c, node, "stacktrace is for arrays of long");
	if (field.type != TP_TYPE_TEXT)
		return number_key(c, key, item);
	if (node->modifier != TP_HIST_PLAIN)
		return tp_hist_compile_fail_modifier(c, node, "the field is a text");
	return bytes_key(c, key, TP_HIST_KEY_TEXT, &field);
}

static bool key(struct tp_hist_compiler *c, struct tp_hist_source *made, const struct tp_hist_item *item)
{
	const struct tp_hist_node *node = tp_hist_compile_root(c, item);

	*made = (struct tp_hist_source){.kind = TP_HIST_KEY_STACK, .own_stack = true};
	if (tp_hist_compile_is_stack(c, node))
		return true;
	made->own_stack = false;
	return node->kind == TP_HIST_FIELD ? field_key(c, made, item, node) : number_key(c, made, item);
}

static bool keys(struct tp_hist_compiler *c)
{
	struct tp_hist_program *program = c->program;

	for (uint32_t i = 0; i < c->definition->nr_keys; i++) {
		struct tp_hist_source *made = &program->keys[i];
		if (!key(c, made, &c->definition->keys[i]))
			return false;
		program->layout.kinds[i] = made->kind;
		program->layout.is_cpu[i] = made->kind == TP_HIST_KEY_NUMBER && made->value->op == TP_HIST_OP_FIELD &&
					    made->value->place.source == TP_SOURCE_CPU;
		program->layout.key_signed[i] = made->kind == TP_HIST_KEY_NUMBER && made->value->is_signed;
		program->layout.key_bytes[i] = made->kind == TP_HIST_KEY_NUMBER ? tp_hist_compile_bytes_of(c, made->value) : 0;
	}
	program->nr_keys = c->definition->nr_keys;
	return true;
}

static bool find_variable(const struct tp_hist_compiler *c, const struct tp_hist_link *link)
{
	static const char *const names[] = {
		[TP_HIST_KEY_NUMBER] = "a number", [TP_HIST_KEY_TEXT] = "a text", [TP_HIST_KEY_STACK] = "a stack",
	};
	const enum tp_hist_kind *kinds = c->program->layout.kinds;

	for (uint32_t i = 0; i < c->definition->nr_keys; i++) {
		if (link->kinds[i] == kinds[i])
			continue;
		tp_buffer_printf(&c->error->hint, "where it is set, key %u is %s, and here it is %s", i + 1, names[link->kinds[i]],
				 names[kinds[i]]);
		return fail(c, link->name.at, "Variable has keys of other types");
	}
	return true;
}

/* A key of another kind would never be found where the variable is. Of other events' fields, plan.c looks closer. */
static bool find_variables(const struct tp_hist_compiler *c)
{
	for (uint32_t i = 0; i < c->links->nr; i++) {
		const struct tp_hist_link *link = &c->links->links[i];
		if (link->has_kinds && !link->matched && !find_variable(c, link))
			return false;
	}
	return true;
}

/* ---- Values ---- */

/* Sums of these mean nothing. The kernel's caret is at the value. */
static bool may_be_summed(const struct tp_hist_node *node)
{
	switch (node->modifier) {
	case TP_HIST_PLAIN:
	case TP_HIST_HEX:
	case TP_HIST_USECS:
	case TP_HIST_PERCENT:
	case TP_HIST_GRAPH:
		return true;
	default:
		return false;
	}
}

static bool values(struct tp_hist_compiler *c)
{
	struct tp_hist_program *program = c->program;

	for (uint32_t i = 0; i < c->definition->nr_values; i++) {
		const struct tp_hist_item *item = &c->definition->values[i];
		if (!may_be_summed(tp_hist_compile_root(c, item))) {
			tp_buffer_printf(&c->error->hint, "values have hex, percent, graph, usecs");
			return fail(c, item->span.at, BAD_MODIFIER);
		}
		program->values[i] = tp_hist_compile_number(c, item->root);
		if (!program->values[i])
			return false;
		program->layout.value_signed[i] = program->values[i]->is_signed;
	}
	program->nr_values = c->definition->nr_values;
	return true;
}

/* ---- Sort keys, which are keys or values ---- */

static bool is_item(const struct tp_hist_definition *definition, const struct tp_hist_item *item, struct tp_hist_span name)
{
	const struct tp_hist_node *node = &definition->nodes[item->root];
	const bool has_name = node->kind == TP_HIST_FIELD || node->kind == TP_HIST_VARIABLE;

	return tp_hist_span_same(definition, has_name ? node->name : item->span, definition, name);
}

uint32_t tp_hist_sort_index(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout,
			    const struct tp_hist_sort *sort)
{
	if (tp_hist_span_is(definition, sort->name, "hitcount"))
		return 0;
	for (uint32_t i = 0; i < definition->nr_values; i++) {
		if (is_item(definition, &definition->values[i], sort->name))
			return 1 + i;
	}
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (is_item(definition, &definition->keys[i], sort->name) ||
		    (layout->is_cpu[i] && tp_hist_span_is(definition, sort->name, "common_cpu")))
			return 1 + TP_HIST_VALUES + i;
	}
	return TP_HIST_NO_FIELD;
}

static bool sort_keys(const struct tp_hist_compiler *c)
{
	for (uint32_t i = 0; i < c->definition->nr_sort; i++) {
		const struct tp_hist_sort *sort = &c->definition->sort[i];
		if (tp_hist_sort_index(c->definition, &c->program->layout, sort) == TP_HIST_NO_FIELD)
			return fail(c, sort->name.at, "Sort field must be a key or a val");
	}
	return true;
}

/* ---- Programs ---- */

/* Programs are many, one for each event that fits, and most have neither variables nor actions. */
static bool room(struct tp_hist_program *program, const struct tp_hist_definition *definition)
{
	const uint32_t params = tp_hist_definition_params(definition), sources = definition->nr_variables + params;

	program->nodes = tp_malloc((2 * (definition->nr_nodes + 1) + params) * sizeof(*program->nodes));
	if (sources)
		program->variables = tp_malloc(sources * sizeof(*program->variables));
	if (definition->nr_actions)
		program->acts_of = tp_malloc(definition->nr_actions * sizeof(*program->acts_of));
	if (!program->nodes || (sources && !program->variables) || (definition->nr_actions && !program->acts_of))
		return false;
	program->params = sources ? program->variables + definition->nr_variables : NULL;
	return true;
}

/* Variables come first, as values may be made of them. */
static bool compile(struct tp_hist_compiler *c)
{
	return tp_hist_compile_variables(c) && values(c) && keys(c) && find_variables(c) && sort_keys(c) && tp_hist_compile_actions(c);
}

struct tp_hist_program *tp_hist_program_new(const struct tp_hist_definition *definition, const struct tp_hist_links *links,
					    const struct tp_event *event, struct tp_filter_error *error)
{
	const size_t len = strlen(event->system) + 1 + strlen(event->name) + 1;
	struct tp_hist_program *program = tp_malloc(sizeof(*program) + len);
	struct tp_hist_compiler c = {
		.definition = definition, .links = links, .event = event, .program = program, .error = error,
	};

	*error = (struct tp_filter_error){.error = 0};
	if (!program) {
		tp_filter_fail_memory(error);
		return NULL;
	}
	*program = (struct tp_hist_program){.id = event->id, .links = links};
	snprintf(program->name, len, "%s:%s", event->system, event->name);
	if (!room(program, definition))
		tp_filter_fail_memory(error);
	else if (compile(&c))
		return program;
	tp_hist_program_free(program);
	return NULL;
}

void tp_hist_program_free(struct tp_hist_program *program)
{
	if (!program)
		return;
	free(program->nodes);
	free(program->variables);
	free(program->acts_of);
	free(program);
}
