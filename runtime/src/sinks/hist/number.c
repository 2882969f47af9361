/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/number.c - an expression for an event's records. What may stand in one is as in the kernel's
 * trace_events_hist.c.
 */
#include "sinks/hist/compile.h"

#define BAD_MODIFIER "Invalid field modifier"

static bool fail(const struct tp_hist_compiler *c, size_t at, const char *message)
{
	return tp_filter_fail(c->error, at, message);
}

bool tp_hist_compile_fail_modifier(const struct tp_hist_compiler *c, const struct tp_hist_node *node, const char *why)
{
	tp_buffer_printf(&c->error->hint, "%s", why);
	return fail(c, node->modifier_span.at, BAD_MODIFIER);
}

static bool is_named(const struct tp_hist_compiler *c, const struct tp_hist_node *node, const char *name)
{
	return tp_hist_span_is(c->definition, node->name, name);
}

/* There is room: an expression's nodes are at most twice those of the tree, and a param is one. */
static struct tp_hist_value *add(struct tp_hist_compiler *c, struct tp_hist_value value)
{
	struct tp_hist_value *added = &c->program->nodes[c->nr_nodes++];

	*added = value;
	return added;
}

/* ---- Fields ---- */

bool tp_hist_compile_find(const struct tp_hist_compiler *c, struct tp_hist_span name, struct tp_filter_field *field)
{
	static const char *const more[] = {"common_timestamp", "hitcount", "stacktrace", NULL};
	const char *text = tp_hist_text_at(c->definition, name);

	if (tp_filter_field_find(field, c->event, text, name.len))
		return true;
	tp_filter_fields_tell(&c->error->hint, c->event, text, name.len, more);
	return fail(c, name.at, "Couldn't find field");
}

bool tp_hist_compile_own(const struct tp_hist_compiler *c, const struct tp_hist_node *node, struct tp_hist_value *value)
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

static bool check_modifier(const struct tp_hist_compiler *c, const struct tp_hist_node *node)
{
	if (node->modifier == TP_HIST_EXECNAME && !is_named(c, node, "common_pid"))
		return tp_hist_compile_fail_modifier(c, node, "execname is only for common_pid");
	if (node->modifier == TP_HIST_USECS && !is_named(c, node, "common_timestamp"))
		return tp_hist_compile_fail_modifier(c, node, "usecs is only for common_timestamp");
	return true;
}

/* A field that is a number, as it is in the record. */
static bool plain_number(const struct tp_hist_compiler *c, const struct tp_hist_node *node, struct tp_hist_value *value)
{
	struct tp_filter_field field;

	if (tp_hist_compile_own(c, node, value))
		return true;
	if (!tp_hist_compile_find(c, node->name, &field))
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

const struct tp_hist_value *tp_hist_compile_field(struct tp_hist_compiler *c, const struct tp_hist_node *node)
{
	struct tp_hist_value value, around = {.op = TP_HIST_OP_FIELD};

	if (!check_modifier(c, node) || !plain_number(c, node, &value))
		return NULL;
	if (node->modifier == TP_HIST_LOG2)
		around = (struct tp_hist_value){.op = TP_HIST_OP_LOG2};
	else if (node->modifier == TP_HIST_BUCKETS)
		around = (struct tp_hist_value){.op = TP_HIST_OP_BUCKETS, .constant = node->number, .is_signed = value.is_signed};
	const struct tp_hist_value *made = add(c, value);
	if (around.op == TP_HIST_OP_FIELD)
		return made;
	around.left = made;
	return add(c, around);
}

/* ---- Variables ---- */

enum tp_hist_kind tp_hist_compile_kind(const struct tp_hist_compiler *c, uint32_t known)
{
	return known < TP_HIST_OWN ? c->links->links[known].kind : c->program->variables[known - TP_HIST_OWN].kind;
}

const struct tp_hist_value *tp_hist_compile_known(struct tp_hist_compiler *c, uint32_t known)
{
	const bool own = known >= TP_HIST_OWN;
	const struct tp_hist_value *value = own ? c->program->variables[known - TP_HIST_OWN].value : NULL;

	return add(c, (struct tp_hist_value){
		.op = TP_HIST_OP_KNOWN, .constant = known, .is_signed = value && value->is_signed,
	});
}

uint8_t tp_hist_compile_bytes_of(const struct tp_hist_compiler *c, const struct tp_hist_value *value)
{
	if (value->op == TP_HIST_OP_KNOWN)
		return value->constant < TP_HIST_OWN ? c->links->links[value->constant].bytes
						     : c->program->layout.variable_bytes[value->constant - TP_HIST_OWN];
	return value->op == TP_HIST_OP_FIELD ? (uint8_t)value->place.size : (uint8_t)sizeof(uint64_t);
}

static const struct tp_hist_value *variable(struct tp_hist_compiler *c, const struct tp_hist_node *node)
{
	if (tp_hist_compile_kind(c, node->known) == TP_HIST_KEY_NUMBER)
		return tp_hist_compile_known(c, node->known);
	fail(c, node->span.at, "String type can not be an operand in expression");
	return NULL;
}

/* ---- Operators ---- */

/* The constant that it is, or that its own variable has. */
static bool is_zero(const struct tp_hist_compiler *c, uint32_t number)
{
	const struct tp_hist_node *node = &c->definition->nodes[number];

	if (node->kind == TP_HIST_VARIABLE && node->known >= TP_HIST_OWN)
		return is_zero(c, c->definition->variables[node->known - TP_HIST_OWN].root);
	return node->kind == TP_HIST_NUMBER && !node->number;
}

static bool is_text(const struct tp_hist_compiler *c, uint32_t number)
{
	const struct tp_hist_node *node = &c->definition->nodes[number];
	struct tp_filter_field field;

	return node->kind == TP_HIST_FIELD &&
	       tp_filter_field_find(&field, c->event, tp_hist_text_at(c->definition, node->name), node->name.len) &&
	       field.type == TP_TYPE_TEXT;
}

static const struct tp_hist_value *operand(struct tp_hist_compiler *c, uint32_t number)
{
	if (is_text(c, number)) {
		fail(c, c->definition->nodes[number].span.at, "String type can not be an operand in expression");
		return NULL;
	}
	return tp_hist_compile_number(c, number);
}

static const struct tp_hist_value *operator(struct tp_hist_compiler *c, const struct tp_hist_node *node, enum tp_hist_op op)
{
	struct tp_hist_value value = {.op = (uint8_t)op};

	value.left = operand(c, node->left);
	if (!value.left)
		return NULL;
	value.is_signed = value.left->is_signed;
	if (op == TP_HIST_OP_NEGATED)
		return add(c, value);
	value.right = operand(c, node->right);
	if (!value.right)
		return NULL;
	if (op == TP_HIST_OP_DIVIDED && is_zero(c, node->right)) {
		fail(c, c->definition->nodes[node->right].span.at, "Division by zero");
		return NULL;
	}
	return add(c, value);
}

const struct tp_hist_value *tp_hist_compile_number(struct tp_hist_compiler *c, uint32_t number)
{
	static const enum tp_hist_op ops[] = {
		[TP_HIST_PLUS] = TP_HIST_OP_PLUS, [TP_HIST_MINUS] = TP_HIST_OP_MINUS, [TP_HIST_TIMES] = TP_HIST_OP_TIMES,
		[TP_HIST_DIVIDED] = TP_HIST_OP_DIVIDED, [TP_HIST_NEGATED] = TP_HIST_OP_NEGATED,
	};
	const struct tp_hist_node *node = &c->definition->nodes[number];

	switch (node->kind) {
	case TP_HIST_FIELD:
		return tp_hist_compile_field(c, node);
	case TP_HIST_NUMBER:
		return add(c, (struct tp_hist_value){.op = TP_HIST_OP_CONSTANT, .constant = node->number});
	case TP_HIST_VARIABLE:
		return variable(c, node);
	default:
		return operator(c, node, ops[node->kind]);
	}
}

/* ---- Texts and stacks ---- */

bool tp_hist_compile_is_stack(const struct tp_hist_compiler *c, const struct tp_hist_node *node)
{
	struct tp_filter_field own;

	if (node->kind != TP_HIST_FIELD || node->modifier != TP_HIST_PLAIN)
		return false;
	return is_named(c, node, "common_stacktrace") ||
	       (is_named(c, node, "stacktrace") &&
		!tp_filter_field_find(&own, c->event, tp_hist_text_at(c->definition, node->name), node->name.len));
}

bool tp_hist_compile_is_longs(const struct tp_event_field *field)
{
	return (field->kind == TP_ARRAY || field->kind == TP_DYNAMIC_ARRAY) && field->element_size == sizeof(long) &&
	       (field->type_class == TP_INTEGER || field->type_class == TP_POINTER);
}

const struct tp_hist_value *tp_hist_compile_bytes(struct tp_hist_compiler *c, const struct tp_filter_field *field)
{
	const enum tp_value_source source = field->is_own && field->described.kind == TP_ARRAY ? TP_SOURCE_ARRAY : field->source;

	return add(c, (struct tp_hist_value){
		.op = TP_HIST_OP_FIELD, .place = tp_value_at(source, field->offset, field->size, false),
	});
}
