/* SPDX-License-Identifier: MIT */
/*
 * filter/filter.h - expressions in the kernel's filter grammar: parsed once, compiled for the records of an event, and
 * evaluated on a record. docs/filters.md is the grammar.
 *
 *	fields.h   what an expression may name
 *	value.h    reading it from a record
 *	operand.h  what it is compared with: numbers, texts, lists of processors
 *
 * are for those above, too, who have expressions of their own;
 *
 *	decimal.h  numbers with a point
 *	tree.h     a parsed expression
 *	program.h  a compiled one
 *
 * are the folder's own.
 */
#ifndef TP_FILTER_H
#define TP_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tp/event.h>

#include "base/text.h"

/* Bytes of an expression, without its NUL; and how deep its parentheses may nest. */
#define TP_FILTER_MAX 65535u
#define TP_FILTER_DEPTH 256u

struct tp_filter;         /* an expression, which belongs to no event yet */
struct tp_filter_program; /* the same for the records of one layout */

/* What is wrong with an expression. All zeros: nothing. */
struct tp_filter_error {
	int error;             /* -EINVAL or -ENOMEM */
	size_t at;             /* where, in bytes from the expression's begin */
	const char *message;   /* in the kernel's words, where it has any */
	bool lacks_field;      /* the event has no such field */
	struct tp_buffer hint; /* what there is instead: an event's fields, a field's names; or empty */
};

/* NULL, and *error says why. Takes the loader's lock. */
struct tp_filter *tp_filter_new(const char *text, struct tp_filter_error *error);
void tp_filter_free(struct tp_filter *filter);

/* For parsers: sets *error, and is false. message stays where it is. */
bool tp_filter_fail(struct tp_filter_error *error, size_t at, const char *message);
bool tp_filter_fail_memory(struct tp_filter_error *error);

/* The expression as it was given. */
const char *tp_filter_text(const struct tp_filter *filter);

/* For the event's records, by its description, of which nothing is kept. NULL, and *error says why: it doesn't fit. */
struct tp_filter_program *tp_filter_compile(const struct tp_filter *filter, const struct tp_event *event,
					    struct tp_filter_error *error);
void tp_filter_program_free(struct tp_filter_program *program);

/* Whether it asks for the processor, which is in no record. */
bool tp_filter_program_reads_cpu(const struct tp_filter_program *program);

/* Whether the record, of so many bytes, is one to keep. Takes no lock, allocates nothing; safe in signal handlers. */
bool tp_filter_accepts(const struct tp_filter_program *program, const struct trace_entry *record, size_t size);

enum tp_filter_answer { TP_FILTER_REFUSES, TP_FILTER_ACCEPTS, TP_FILTER_WANTS_MORE };

/*
 * The same before there is a record. early is its fixed part, with only these fields: a bit for each, bit 0 for the event's
 * first, bit 63 for all from the 64th on. Sets the header, if the program reads that. TP_FILTER_WANTS_MORE: the result
 * depends on a field that is not there. Callable as tp_filter_accepts().
 */
enum tp_filter_answer tp_filter_ask(const struct tp_filter_program *program, const struct tp_event *event,
				    struct trace_entry *early, uint64_t fields);

/*
 * Appends, as the kernel's file "filter" has it after a failed write: the expression, a line with "^" under the place,
 * "parse_error: " and the message, with the hint. Without a newline at the end.
 */
void tp_filter_error_print(struct tp_buffer *to, const char *text, const struct tp_filter_error *error);

/* The same in one line, for a message. */
void tp_filter_error_print_line(struct tp_buffer *to, const char *text, const struct tp_filter_error *error);

void tp_filter_error_free(struct tp_filter_error *error);

/*
 * Of events that a filter does not fit, one that has the fields says more than one that lacks them, and else the first one.
 * *first is of zeros, or what was kept. Takes *error over. True: that is *first now.
 */
bool tp_filter_error_keep(struct tp_filter_error *first, struct tp_filter_error *error);

#endif /* TP_FILTER_H */
