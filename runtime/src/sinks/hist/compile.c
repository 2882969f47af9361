/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/compile.c - a definition becomes a program for an event's records. What may be a key or a value, and with
 * which modifier, is as in the kernel's trace_events_hist.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "filter/fields.h"
#include "sinks/hist/program.h"

#define BAD_MODIFIER "Invalid field modifier"

struct compiler {
	const struct tp_hist_definition *definition;
	const struct tp_event *event;
	struct tp_hist_program *program;
	uint32_t nr_nodes; /* of the program, that are in use */
	struct tp_filter_error *error;
};

static bool fail(const struct compiler *c, size_t at, const char *message)
{
	return tp_filter_fail(c->error, at, message);
}

static bool fail_modifier(const struct compiler *c, const struct tp_hist_node *node, const char *why)
{
	tp_buffer_printf(&c->error->hint, "%s", why);
	return fail(c, node->modifier_span.at, BAD_MODIFIER);
}

static const struct tp_hist_node *node_of(const struct compiler *c, const struct tp_hist_item *item)
{
	return &c->definition->nodes[item->root];
}

static bool is_named(const struct compiler *c, const struct tp_hist_node *node, const char *name)
{
	return tp_hist_span_is(c->definition, node->name, name);
}

/* There is room: an expression's nodes are at most twice those of the tree. */
static struct tp_hist_value *value_add(struct compiler *c, struct tp_hist_value value)
{
	struct tp_hist_value *added = &c->program->nodes[c->nr_nodes++];

	*added = value;
	return added;
}

/* ---- Fields ---- */

static bool find_field(const struct compiler *c, const struct tp_hist_node *node, struct tp_filter_field *field)
{
	if (tp_filter_field_find(field, c->event, tp_hist_text_at(c->definition, node->name), node->name.len))
		return true;
	tp_filter_fields_tell(&c->error->hint, c->event);
	tp_buffer_printf(&c->error->hint, ", common_timestamp, hitcount, stacktrace");
	return fail(c, node->name.at, "Couldn't find field");
}

static bool is_own_number(const struct compiler *c, const struct tp_hist_node *node, struct tp_hist_value *value)
{
	if (is_named(c, node, "hitcount")) {
		*value = (struct tp_hist_value){.op = TP_HIST_OP_CONSTANT, .constant = 1};
		return true;
	}
	if (is_named(c, node, "common_timestamp")) {
		*value = (struct tp_hist_value){.op = TP_HIST_OP_STAMP};
		c->program->with_stamp = true;
		return true;
	}
	return false;
}

static bool check_modifier(const struct compiler *c, const struct tp_hist_node *node)
{
	if (node->modifier == TP_HIST_EXECNAME && !is_named(c, node, "common_pid"))
		return fail_modifier(c, node, "execname is only for common_pid");
	if (node->modifier == TP_HIST_USECS && !is_named(c, node, "common_timestamp"))
		return fail_modifier(c, node, "usecs is only for common_timestamp");
	return true;
}

/* A field that is a number, as it is in the record. */
static bool plain_number(const struct compiler *c, const struct tp_hist_node *node, struct tp_hist_value *value)
{
	struct tp_filter_field field;

	if (is_own_number(c, node, value))
		return true;
	if (!find_field(c, node, &field))
		return false;
	if (field.type != TP_TYPE_NUMBER && field.type != TP_TYPE_CPU) {
		if (field.type == TP_TYPE_TEXT)
			tp_buffer_printf(&c->error->hint, "it is a text");
		else if (field.why_not)
			tp_buffer_printf(&c->error->hint, "%s", field.why_not);
		return fail(c, node->name.at, "Expecting numeric field");
	}
	*value = (struct tp_hist_value){
		.op = TP_HIST_OP_FIELD,
		.is_signed = field.is_signed,
		.place = tp_value_at(field.source, field.offset, field.size, field.is_signed),
	};
	return true;
}

static const struct tp_hist_value *field_number(struct compiler *c, const struct tp_hist_node *node)
{
	struct tp_hist_value value, around = {.op = TP_HIST_OP_FIELD};

	if (!check_modifier(c, node) || !plain_number(c, node, &value))
		return NULL;
	if (node->modifier == TP_HIST_LOG2)
		around = (struct tp_hist_value){.op = TP_HIST_OP_LOG2};
	else if (node->modifier == TP_HIST_BUCKETS)
		around = (struct tp_hist_value){.op = TP_HIST_OP_BUCKETS, .constant = node->number, .is_signed = value.is_signed};
	const struct tp_hist_value *made = value_add(c, value);
	if (around.op == TP_HIST_OP_FIELD)
		return made;
	around.left = made;
	return value_add(c, around);
}

static const struct tp_hist_value *number(struct compiler *c, uint32_t root)
{
	const struct tp_hist_node *node = &c->definition->nodes[root];

	switch (node->kind) {
	case TP_HIST_FIELD:
		return field_number(c, node);
	case TP_HIST_NUMBER:
		return value_add(c, (struct tp_hist_value){.op = TP_HIST_OP_CONSTANT, .constant = node->number});
	default:
		fail(c, node->span.at, "Variables and arithmetic are not supported");
		return NULL;
	}
}

/* ---- Keys ---- */

static bool is_stack(const struct compiler *c, const struct tp_hist_node *node)
{
	struct tp_filter_field own;

	if (node->kind != TP_HIST_FIELD || node->modifier != TP_HIST_PLAIN)
		return false;
	return is_named(c, node, "common_stacktrace") ||
	       (is_named(c, node, "stacktrace") &&
		!tp_filter_field_find(&own, c->event, tp_hist_text_at(c->definition, node->name), node->name.len));
}

static bool is_longs(const struct tp_event_field *field)
{
	return field && (field->kind == TP_ARRAY || field->kind == TP_DYNAMIC_ARRAY) && field->element_size == sizeof(long) &&
	       (field->type_class == TP_INTEGER || field->type_class == TP_POINTER);
}

static bool bytes_key(struct compiler *c, struct tp_hist_key_source *key, enum tp_hist_kind kind, const struct tp_filter_field *field)
{
	const enum tp_value_source source = field->described && field->described->kind == TP_ARRAY ? TP_SOURCE_ARRAY : field->source;

	key->kind = kind;
	key->value = value_add(c, (struct tp_hist_value){
		.op = TP_HIST_OP_FIELD, .place = tp_value_at(source, field->offset, field->size, false),
	});
	return true;
}

static bool number_key(struct compiler *c, struct tp_hist_key_source *key, const struct tp_hist_item *item)
{
	key->kind = TP_HIST_KEY_NUMBER;
	key->value = number(c, item->root);
	return key->value != NULL;
}

static bool field_key(struct compiler *c, struct tp_hist_key_source *key, const struct tp_hist_item *item,
		      const struct tp_hist_node *node)
{
	struct tp_hist_layout *layout = &c->program->layout;
	struct tp_filter_field field;
	struct tp_hist_value own;

	if (node->modifier == TP_HIST_PERCENT || node->modifier == TP_HIST_GRAPH)
		return fail_modifier(c, node, "percent and graph are for values");
	c->program->with_comm |= node->modifier == TP_HIST_EXECNAME;
	if (is_own_number(c, node, &own))
		return number_key(c, key, item);
	if (!find_field(c, node, &field))
		return false;
	layout->is_field[key - c->program->keys] = field.described != NULL;
	if (node->modifier == TP_HIST_STACKTRACE)
		return is_longs(field.described) ? bytes_key(c, key, TP_HIST_KEY_STACK, &field)
						 : fail_modifier(c, node, "stacktrace is for arrays of long");
	if (field.type != TP_TYPE_TEXT)
		return number_key(c, key, item);
	if (node->modifier != TP_HIST_PLAIN)
		return fail_modifier(c, node, "the field is a text");
	return bytes_key(c, key, TP_HIST_KEY_TEXT, &field);
}

static bool key(struct compiler *c, struct tp_hist_key_source *made, const struct tp_hist_item *item)
{
	const struct tp_hist_node *node = node_of(c, item);

	*made = (struct tp_hist_key_source){.kind = TP_HIST_KEY_STACK, .own_stack = true};
	if (is_stack(c, node))
		return true;
	made->own_stack = false;
	return node->kind == TP_HIST_FIELD ? field_key(c, made, item, node) : number_key(c, made, item);
}

static bool keys(struct compiler *c)
{
	struct tp_hist_program *program = c->program;

	for (uint32_t i = 0; i < c->definition->nr_keys; i++) {
		struct tp_hist_key_source *made = &program->keys[i];
		if (!key(c, made, &c->definition->keys[i]))
			return false;
		program->layout.kinds[i] = made->kind;
		program->layout.is_cpu[i] = made->kind == TP_HIST_KEY_NUMBER && made->value->op == TP_HIST_OP_FIELD &&
					    made->value->place.source == TP_SOURCE_CPU;
		program->layout.key_signed[i] = made->kind == TP_HIST_KEY_NUMBER && made->value->is_signed;
	}
	program->nr_keys = c->definition->nr_keys;
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

static bool values(struct compiler *c)
{
	struct tp_hist_program *program = c->program;

	for (uint32_t i = 0; i < c->definition->nr_values; i++) {
		const struct tp_hist_item *item = &c->definition->values[i];
		if (!may_be_summed(node_of(c, item))) {
			tp_buffer_printf(&c->error->hint, "values have hex, percent, graph, usecs");
			return fail(c, item->span.at, BAD_MODIFIER);
		}
		program->values[i] = number(c, item->root);
		if (!program->values[i])
			return false;
		program->layout.value_signed[i] = program->values[i]->is_signed;
	}
	program->nr_values = c->definition->nr_values;
	return true;
}

static bool supported(const struct compiler *c)
{
	const struct tp_hist_definition *definition = c->definition;

	if (definition->nr_actions)
		return fail(c, definition->actions[0].span.at, "Actions are not supported");
	return !definition->nr_variables || fail(c, definition->variables[0].variable.at, "Variables and arithmetic are not supported");
}

/* ---- Sort keys, which are keys or values ---- */

static bool is_item(const struct tp_hist_definition *definition, const struct tp_hist_item *item, struct tp_hist_span name)
{
	const struct tp_hist_node *node = &definition->nodes[item->root];

	return tp_hist_span_same(definition, node->kind == TP_HIST_FIELD ? node->name : item->span, definition, name);
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

static bool sort_keys(const struct compiler *c)
{
	for (uint32_t i = 0; i < c->definition->nr_sort; i++) {
		const struct tp_hist_sort *sort = &c->definition->sort[i];
		if (tp_hist_sort_index(c->definition, &c->program->layout, sort) == TP_HIST_NO_FIELD)
			return fail(c, sort->name.at, "Sort field must be a key or a val");
	}
	return true;
}

/* ---- Programs ---- */

struct tp_hist_program *tp_hist_program_new(const struct tp_hist_definition *definition, const struct tp_event *event,
					    struct tp_filter_error *error)
{
	const size_t len = strlen(event->system) + 1 + strlen(event->name) + 1;
	struct tp_hist_program *program = tp_malloc(sizeof(*program) + len);
	struct compiler c = {.definition = definition, .event = event, .program = program, .error = error};

	*error = (struct tp_filter_error){.error = 0};
	if (program) {
		*program = (struct tp_hist_program){.id = event->id};
		program->nodes = tp_malloc(2 * (definition->nr_nodes + 1) * sizeof(*program->nodes));
	}
	if (!program || !program->nodes) {
		free(program);
		tp_filter_fail_memory(error);
		return NULL;
	}
	snprintf(program->name, len, "%s:%s", event->system, event->name);
	if (supported(&c) && values(&c) && keys(&c) && sort_keys(&c))
		return program;
	tp_hist_program_free(program);
	return NULL;
}

void tp_hist_program_free(struct tp_hist_program *program)
{
	if (program)
		free(program->nodes);
	free(program);
}

uint32_t tp_hist_layout_words(const struct tp_hist_layout *layout, uint32_t nr_keys)
{
	static const uint32_t words[] = {
		[TP_HIST_KEY_NUMBER] = TP_HIST_NUMBER_WORDS, [TP_HIST_KEY_TEXT] = TP_HIST_TEXT_WORDS,
		[TP_HIST_KEY_STACK] = TP_HIST_STACK_WORDS,
	};
	uint32_t sum = 0;

	for (uint32_t i = 0; i < nr_keys; i++)
		sum += words[layout->kinds[i]];
	return sum;
}

bool tp_hist_layout_same(const struct tp_hist_layout *a, const struct tp_hist_layout *b, uint32_t nr_keys)
{
	for (uint32_t i = 0; i < nr_keys; i++) {
		if (a->kinds[i] != b->kinds[i])
			return false;
	}
	return true;
}
