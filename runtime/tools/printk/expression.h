/* SPDX-License-Identifier: MIT */
/*
 * expression.h - an argument of TP_printk, parsed: C's expressions, with REC as the record and with the helpers of
 * TP_printk. Each part has its type, as to C types do not depend on values.
 */
#ifndef PRINTK_EXPRESSION_H
#define PRINTK_EXPRESSION_H

#include <tp/event.h>

#include "printk/value.h"
#include "read/c_text.h"
#include "read/fields.h"

enum node_kind {
	NODE_VALUE,    /* a constant; a text among them */
	NODE_FIELD,    /* a field's value */
	NODE_PLACE,    /* a pointer to a field: to the first element of an array */
	NODE_PAYLOAD,  /* a pointer to a field's payload */
	NODE_LENGTH,   /* the payload's bytes */
	NODE_CONVERT,  /* children[0], to the type */
	NODE_NEGATE,
	NODE_INVERT,   /* ~ */
	NODE_NOT,
	NODE_BINARY,   /* children[0] operator children[1] */
	NODE_CHOICE,   /* children[0] ? children[1] : children[2] */
	NODE_LAST,     /* children[0], children[1] */
	NODE_LOAD,     /* what the pointer children[0] points to */
	NODE_CALL,     /* helper(children ...) */
};

enum helper {
	HELPER_FLAGS, HELPER_SYMBOLIC, HELPER_HEX, HELPER_HEX_STR, HELPER_ARRAY, HELPER_DYNAMIC_ARRAY, HELPER_HEX_DUMP,
	HELPER_BITMASK,
};

#define NODE_CHILDREN 7

struct node {
	enum node_kind kind;
	enum operator op;
	enum helper helper;
	uint32_t depth;  /* of the tree from here on down */
	struct type type;
	struct node *children[NODE_CHILDREN];
	size_t nr_children;
	struct node *entries;         /* a table's: a value each, and its name behind it, by next */
	struct node *next;
	size_t table_size;            /* bytes of each of its values */
	struct trace_print_flags_u64 *table; /* the entries, once they are needed; ended by NULL */
	struct value value;           /* of NODE_VALUE */
	const struct field *field;
	uint32_t offset;              /* of NODE_FIELD and NODE_PLACE, in the record */
	char *text;                   /* that value points to */
	struct node *made_before;
};

/* All nodes of an event. Zeros are none. */
struct nodes {
	struct node *last;
	uint32_t nr;
};

/* The tree of the text, whose fields must stay; NULL: it has something that only a C compiler knows, or there is no memory. */
struct node *expression_parse(struct nodes *nodes, const struct fields *fields, struct span text);

void nodes_free(struct nodes *nodes);

#endif /* PRINTK_EXPRESSION_H */
