/* SPDX-License-Identifier: MIT */
/* helper.c - the helpers of TP_printk: those of the runtime, with what they read looked at before. */
#include <stdlib.h>
#include <string.h>

#include <tp/print.h>

#include "printk/evaluate.h"

/* ---- Arguments ---- */

static bool number(struct evaluation *e, struct node *node, size_t i, struct type type, uint64_t *result)
{
	struct value value;

	if (!evaluate(e, node->children[i], &value) || !value_convert(&value, type))
		return false;
	*result = value.integer;
	return true;
}

/* An int: of a helper's parameter. */
static bool small(struct evaluation *e, struct node *node, size_t i, int *result)
{
	uint64_t value;

	if (!number(e, node, i, type_int, &value))
		return false;
	*result = (int)value;
	return true;
}

static bool bytes(struct evaluation *e, struct node *node, size_t i, struct value *value)
{
	return evaluate(e, node->children[i], value) && value->type.own.kind == TYPE_POINTER;
}

/* A text that ends in its memory; NULL is one, too. */
static bool text_of(const struct value *value, const char **text)
{
	if (value->type.own.kind != TYPE_POINTER || (!value->at && value->integer))
		return false;
	*text = (const char *)value->at;
	return !value->at || memchr(value->at, '\0', (size_t)(value->end - value->at));
}

static bool text(struct evaluation *e, struct node *node, size_t i, const char **result)
{
	struct value value;

	return evaluate(e, node->children[i], &value) && text_of(&value, result);
}

/* So many bytes are there; or none at all, and helpers say so. */
static bool is_readable(const struct value *pointer, uint64_t size)
{
	return pointer->at ? value_has_bytes(pointer, size) : pointer->integer == 0;
}

/* ---- Tables ---- */

static bool is_constant(const struct node *node)
{
	switch (node->kind) {
	case NODE_FIELD:
	case NODE_PLACE:
	case NODE_PAYLOAD:
	case NODE_LENGTH:
	case NODE_CALL:
		return false;
	default:
		break;
	}
	for (size_t i = 0; i < node->nr_children; i++) {
		if (!is_constant(node->children[i]))
			return false;
	}
	return true;
}

static bool fill_table(struct evaluation *e, struct node *call)
{
	struct trace_print_flags_u64 *entry = call->table;

	for (struct node *node = call->entries; node; node = node->next->next) {
		struct value mask, name;
		if (!evaluate(e, node, &mask) || !value_convert(&mask, type_integer(call->table_size, false)) ||
		    !evaluate(e, node->next, &name) || !text_of(&name, &entry->name))
			return false;
		if (!entry->name) /* a null pointer ends it, as in C */
			break;
		entry++->mask = mask.integer;
	}
	return true;
}

/* It has constants alone: so it is the same for all records. */
static bool make_table(struct evaluation *e, struct node *call)
{
	size_t nr = 0;

	if (call->table)
		return true;
	for (const struct node *node = call->entries; node; node = node->next->next) {
		if (!is_constant(node) || !is_constant(node->next))
			return false;
		nr++;
	}
	call->table = calloc(nr + 1, sizeof(*call->table));
	if (call->table && fill_table(e, call))
		return true;
	free(call->table);
	call->table = NULL;
	return false;
}

/* As struct tp_symbols describes it. What a 32-bit program has of C's constants is widened as those are, so -1 is all ones. */
static struct tp_symbols *write_table(const struct trace_print_flags_u64 *table, size_t size_of_value, const char *delimiter)
{
	size_t nr = 0, size = delimiter ? strlen(delimiter) + 1 : 0;

	for (; table[nr].name; nr++)
		size += strlen(table[nr].name) + 1;
	const size_t names = sizeof(struct tp_symbols) + nr * sizeof(table->mask);
	struct tp_symbols *symbols = nr <= UINT16_MAX ? malloc(names + size) : NULL;
	if (!symbols)
		return NULL;
	*symbols = (struct tp_symbols){.nr = (uint16_t)nr, .is_flags = delimiter != NULL, .names = (uint32_t)names};
	unsigned long long *values = (unsigned long long *)(symbols + 1);
	char *text = (char *)symbols + names;
	if (delimiter)
		text = stpcpy(text, delimiter) + 1;
	for (size_t i = 0; i < nr; i++) {
		values[i] = size_of_value < LONGEST ? (unsigned long long)(int32_t)table[i].mask : table[i].mask;
		text = stpcpy(text, table[i].name) + 1;
	}
	return symbols;
}

struct tp_symbols *evaluate_table(struct evaluation *e, struct node *node)
{
	const bool is_flags = node->helper == HELPER_FLAGS;
	const char *delimiter = NULL;

	if (node->kind != NODE_CALL || !node->entries || (is_flags && node->children[1]->kind != NODE_VALUE) || !make_table(e, node) ||
	    (is_flags && (!text(e, node, 1, &delimiter) || !delimiter)))
		return NULL;
	return write_table(node->table, node->table_size, delimiter);
}

static const char *flags(struct evaluation *e, struct node *node)
{
	uint64_t value;
	const char *delimiter;

	if (!make_table(e, node) || !number(e, node, 0, type_integer(node->table_size, false), &value) || !text(e, node, 1, &delimiter))
		return NULL;
	return tp_seq_print_flags_u64(e->results, value, delimiter, node->table);
}

static const char *symbolic(struct evaluation *e, struct node *node)
{
	uint64_t value;

	if (!make_table(e, node) || !number(e, node, 0, type_integer(node->table_size, false), &value))
		return NULL;
	const struct trace_print_flags_u64 *entry = node->table;
	while (entry->name && entry->mask != value)
		entry++;
	return entry->name && *entry->name ? entry->name : tp_seq_print_symbolic_u64(e->results, value, node->table);
}

/* ---- Bytes ---- */

static const char *hex(struct evaluation *e, struct node *node, bool together)
{
	struct value pointer;
	int len;

	if (!bytes(e, node, 0, &pointer) || !small(e, node, 1, &len) || !is_readable(&pointer, len > 0 ? (uint64_t)len : 0))
		return NULL;
	return tp_seq_print_hex(e->results, pointer.at, len, together);
}

static const char *put_array(struct evaluation *e, const struct value *pointer, int count, uint64_t element_size)
{
	uint64_t size;

	if (__builtin_mul_overflow(count > 0 ? (uint64_t)count : 0, element_size, &size) || !is_readable(pointer, size))
		return NULL;
	return tp_seq_print_array(e->results, pointer->at, count, (size_t)element_size);
}

static const char *array(struct evaluation *e, struct node *node)
{
	struct value pointer;
	uint64_t element_size;
	int count;

	if (!bytes(e, node, 0, &pointer) || !small(e, node, 1, &count) ||
	    !number(e, node, 2, type_integer(sizeof(element_size), false), &element_size))
		return NULL;
	return put_array(e, &pointer, count, element_size);
}

static const char *dynamic_array(struct evaluation *e, struct node *node)
{
	uint64_t element_size;
	uint32_t size;
	const struct value payload = evaluate_payload(e, node, &size);

	if (!number(e, node, 0, type_integer(sizeof(element_size), false), &element_size) || !element_size)
		return NULL;
	return put_array(e, &payload, (int)(size / element_size), element_size);
}

static const char *hex_dump(struct evaluation *e, struct node *node)
{
	const char *prefix;
	int prefix_type, row_size, group_size, ascii;
	struct value pointer;
	uint64_t len;

	if (!text(e, node, 0, &prefix) || !small(e, node, 1, &prefix_type) || !small(e, node, 2, &row_size) ||
	    !small(e, node, 3, &group_size) || !bytes(e, node, 4, &pointer) ||
	    !number(e, node, 5, type_integer(sizeof(len), false), &len) || !small(e, node, 6, &ascii))
		return NULL;
	if ((int64_t)len < 0) /* prints none */
		len = 0;
	if (prefix_type == DUMP_PREFIX_ADDRESS || !is_readable(&pointer, len))
		return NULL; /* where it was is not in the trace */
	return tp_seq_print_hex_dump(e->results, prefix, prefix_type, row_size, group_size, pointer.at, (size_t)len, ascii);
}

static const char *bitmask(struct evaluation *e, struct node *node)
{
	uint32_t size;
	const struct value payload = evaluate_payload(e, node, &size);

	return tp_seq_print_bitmask(e->results, payload.at, size);
}

static const char *call(struct evaluation *e, struct node *node)
{
	switch (node->helper) {
	case HELPER_FLAGS:
		return flags(e, node);
	case HELPER_SYMBOLIC:
		return symbolic(e, node);
	case HELPER_HEX:
		return hex(e, node, false);
	case HELPER_HEX_STR:
		return hex(e, node, true);
	case HELPER_ARRAY:
		return array(e, node);
	case HELPER_DYNAMIC_ARRAY:
		return dynamic_array(e, node);
	case HELPER_HEX_DUMP:
		return hex_dump(e, node);
	case HELPER_BITMASK:
		return bitmask(e, node);
	}
	return NULL;
}

bool evaluate_helper(struct evaluation *e, struct node *node, struct value *value)
{
	const char *result = call(e, node);

	if (!result)
		return false;
	*value = value_of_text(result, strlen(result));
	return true;
}
