/* SPDX-License-Identifier: MIT */
/*
 * filter/tree.h - a parsed expression. Its nodes are known by their numbers, as their array grows while it is parsed.
 */
#ifndef TP_FILTER_TREE_H
#define TP_FILTER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/filter.h"

enum tp_filter_kind {
	TP_FILTER_OR,
	TP_FILTER_AND,
	TP_FILTER_NOT,
	TP_FILTER_PREDICATE,
};

enum tp_filter_op {
	TP_FILTER_GLOB, /* ~ */
	TP_FILTER_NE,
	TP_FILTER_EQ,
	TP_FILTER_LE,
	TP_FILTER_LT,
	TP_FILTER_GE,
	TP_FILTER_GT,
	TP_FILTER_BAND, /* &: any of these bits */
};

/* In the kernel's order, in which they are looked for: "<=" must come before "<". */
extern const char *const tp_filter_op_names[TP_FILTER_BAND + 1];

enum tp_filter_value {
	TP_FILTER_STRING,
	TP_FILTER_NUMBER,
	TP_FILTER_CPUS,
	TP_FILTER_FUNCTION, /* of FIELD.function */
};

/* Bytes of the expression. */
struct tp_filter_span {
	uint32_t at, len;
};

/* FIELD OP VALUE */
struct tp_filter_predicate {
	struct tp_filter_span field;
	struct tp_filter_span value;  /* without its quotes, without "CPUS{" and "}" */
	uint32_t value_at;            /* with them */
	enum tp_filter_op op;
	enum tp_filter_value kind;
	bool ustring;
	uint64_t function, function_size; /* the address of its first byte, and how many there are */
};

/* No node has this number. */
#define TP_FILTER_NONE UINT32_MAX

struct tp_filter_node {
	enum tp_filter_kind kind;
	uint32_t child; /* the first, of all but predicates */
	uint32_t next;  /* of the same parent */
	uint32_t first; /* the number, among all predicates in their order, of the first below it */
	struct tp_filter_predicate predicate;
};

struct tp_filter {
	char *text;
	struct tp_filter_node *nodes;
	uint32_t nr_nodes, room;
	uint32_t nr_predicates;
	uint32_t root;
};

#endif /* TP_FILTER_TREE_H */
