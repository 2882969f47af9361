/* SPDX-License-Identifier: MIT */
/*
 * printk.h - the text that an event's TP_printk makes of a record, by the event's format: that of the text output, as the
 * runtime's own functions print it.
 *
 *	printk.c        the format, and what it prints
 *	  helper.c      __print_symbolic and its like; their tables
 *	  evaluate.c    the value of an expression
 *	  expression.c  its parser
 *	    literal.c   constants
 *	    type_name.c names of types
 *	  value.c       values, and computing with them
 */
#ifndef PRINTK_H
#define PRINTK_H

#include <stdbool.h>
#include <stdint.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

#include "read/formats.h"

struct printk;

/*
 * To be freed. NULL: the format has what only the program's compiler knows, such as a call of a function of the program's;
 * or there is no memory. The format stays the caller's.
 */
struct printk *printk_new(const struct event_format *format);
void printk_free(struct printk *printk);

/*
 * Appends the text of a record of so many bytes, which are at least as many as its format says. What does not fit is cut,
 * and sets the text's full. False, and the text is as before: it depends on what is not in the trace.
 */
bool printk_put(struct printk *printk, struct trace_seq *text, const unsigned char *record, uint32_t size);

/* The table with which the format prints this very field, as the runtime's descriptions have it; for free(). NULL: there is none. */
struct tp_symbols *printk_symbols(struct printk *printk, const char *field, size_t len);

#endif /* PRINTK_H */
