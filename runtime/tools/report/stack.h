/* SPDX-License-Identifier: MIT */
/* stack.h - the stacks of tp:stacktrace, with the names of the functions. */
#ifndef STACK_H
#define STACK_H

#include "read/fields.h"
#include "read/traces.h"
#include "report/line.h"

struct stacks;

/* NULL, and a message, where there is no memory. The traces stay the caller's. */
struct stacks *stacks_new(const struct traces *traces);
void stacks_free(struct stacks *stacks);

bool stack_is(const struct event_format *format);

/* The field of a stack with the addresses. NULL: the event is of another libtp. */
const struct field *stack_field(const struct fields *fields);

/* Whose stack it is, and when. */
struct stack {
	size_t trace_nr;
	int32_t pid;
	uint64_t time;
	const unsigned char *record;
	uint32_t size;
};

/* "=> inner+0x1c => outer+0x9": docs/tp.md, "Stacks". */
void stacks_put(struct line *line, struct stacks *stacks, const struct stack *stack, const struct field *field);

#endif /* STACK_H */
