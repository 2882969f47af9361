/* SPDX-License-Identifier: MIT */
/* evaluate.c - recursion is as deep as the tree, which has a limit. No byte outside of the record is read. */
#include "printk/evaluate.h"

static struct value place_in_record(const struct evaluation *e, struct type type, const unsigned char *at)
{
	return (struct value){.type = type, .at = at, .begin = e->record, .end = e->record + e->size};
}

struct value evaluate_payload(const struct evaluation *e, const struct node *node, uint32_t *size)
{
	return place_in_record(e, node->type, field_payload(node->field, e->record, e->size, size));
}

static bool load_field(const struct evaluation *e, const struct node *node, struct value *value)
{
	struct basic_type type = node->type.own;

	if (type.kind == TYPE_POINTER)
		type = type_integer(type.size, false).own;
	value_load(value, type, e->record + node->offset);
	value->type = node->type;
	return true;
}

static bool load(struct evaluation *e, struct node *node, struct value *value)
{
	struct value pointer;

	if (!evaluate(e, node->children[0], &pointer) || !value_has_bytes(&pointer, node->type.own.size))
		return false;
	value_load(value, node->type.own, pointer.at);
	return true;
}

static bool evaluate_unary(struct evaluation *e, struct node *node, struct value *value)
{
	bool is_true;

	if (!evaluate(e, node->children[0], value))
		return false;
	if (node->kind == NODE_NOT) {
		if (!value_is_true(value, &is_true))
			return false;
		*value = (struct value){.type = type_int, .integer = !is_true};
		return true;
	}
	if (!value_convert(value, node->type))
		return false;
	value->real = -value->real;
	value->integer = node->kind == NODE_NEGATE ? -value->integer : ~value->integer;
	return value_fit(value, node->type);
}

static bool is_true(struct evaluation *e, struct node *node, bool *result)
{
	struct value value;

	return evaluate(e, node, &value) && value_is_true(&value, result);
}

static bool evaluate_logical(struct evaluation *e, struct node *node, struct value *value)
{
	const bool is_and = node->op == OPERATOR_LOGICAL_AND;
	bool result;

	if (!is_true(e, node->children[0], &result))
		return false;
	if (result == is_and && !is_true(e, node->children[1], &result))
		return false;
	*value = (struct value){.type = type_int, .integer = result};
	return true;
}

static bool evaluate_binary(struct evaluation *e, struct node *node, struct value *value)
{
	struct value a, b;

	if (node->op == OPERATOR_LOGICAL_AND || node->op == OPERATOR_LOGICAL_OR)
		return evaluate_logical(e, node, value);
	return evaluate(e, node->children[0], &a) && evaluate(e, node->children[1], &b) && value_compute(value, node->op, &a, &b);
}

static bool evaluate_choice(struct evaluation *e, struct node *node, struct value *value)
{
	bool result;

	return is_true(e, node->children[0], &result) && evaluate(e, node->children[result ? 1 : 2], value) &&
	       value_convert(value, node->type);
}

bool evaluate(struct evaluation *e, struct node *node, struct value *value)
{
	struct value dropped;
	uint32_t size;

	switch (node->kind) {
	case NODE_VALUE:
		*value = node->value;
		return true;
	case NODE_FIELD:
		return load_field(e, node, value);
	case NODE_PLACE:
		*value = place_in_record(e, node->type, e->record + node->offset);
		return true;
	case NODE_PAYLOAD:
		*value = evaluate_payload(e, node, &size);
		return true;
	case NODE_LENGTH:
		evaluate_payload(e, node, &size);
		*value = (struct value){.type = node->type, .integer = size};
		return true;
	case NODE_CONVERT:
		return evaluate(e, node->children[0], value) && value_convert(value, node->type);
	case NODE_NEGATE:
	case NODE_INVERT:
	case NODE_NOT:
		return evaluate_unary(e, node, value);
	case NODE_BINARY:
		return evaluate_binary(e, node, value);
	case NODE_CHOICE:
		return evaluate_choice(e, node, value);
	case NODE_LAST:
		return evaluate(e, node->children[0], &dropped) && evaluate(e, node->children[1], value);
	case NODE_LOAD:
		return load(e, node, value);
	case NODE_CALL:
		return evaluate_helper(e, node, value);
	}
	return false;
}
