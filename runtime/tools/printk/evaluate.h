/* SPDX-License-Identifier: MIT */
/* evaluate.h - the value of an expression for a record. */
#ifndef PRINTK_EVALUATE_H
#define PRINTK_EVALUATE_H

#include <tp/trace_seq.h>

#include "printk/expression.h"

/* What expressions are evaluated on. There are at least as many bytes as the event's format says. */
struct evaluation {
	const unsigned char *record;
	uint32_t size;
	struct trace_seq *results; /* texts that helpers make, which values point to */
};

/* False: it has no value, as of a division by 0, or it depends on what is not in the trace. */
bool evaluate(struct evaluation *evaluation, struct node *node, struct value *value);

/* NODE_CALL. In helper.c. */
bool evaluate_helper(struct evaluation *evaluation, struct node *node, struct value *value);

/*
 * The table of a call for flags or symbols, for free(). NULL: the call is another, it has more than constants in it, or
 * there is no memory.
 */
struct tp_symbols *evaluate_table(struct evaluation *evaluation, struct node *call);

/* A field's payload, as a pointer that may look at all behind it in the record; *size are the payload's bytes. */
struct value evaluate_payload(const struct evaluation *evaluation, const struct node *node, uint32_t *size);

#endif /* PRINTK_EVALUATE_H */
