/* SPDX-License-Identifier: MIT */
/*
 * describe.h - descriptions of event classes that are made while a test runs, of
 * whatever parts it wants.
 */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include <tp/describe.h>

/* A field as readers see it; its table as it is written, with a NULL name at its end. */
struct part {
	struct tp_event_field field;
	const struct trace_print_flags *symbols;
	const char *delimiter;
};

struct parts {
	const struct part *fields;
	uint32_t nr_fields, fixed_size;
	const char *print_fmt; /* NULL: "" */
	const struct part_eval {
		const char *name;
		long long value;
	} *evals; /* a NULL name at their end; or NULL */
};

/* It stays. */
const struct tp_event_class *describe(const struct parts *parts);

/* A table; it stays. */
const struct tp_symbols *describe_symbols(const struct trace_print_flags *symbols, const char *delimiter);

/* A struct part: a field of this kind and C type; its table, and the delimiter of flags; NULL: none. */
#define PART(kind_, is_relative, record, member, its_name, its_type, table, its_delimiter)                    \
	{                                                                                                     \
		.field = {.name = its_name, .type = #its_type, .kind = kind_, .relative = is_relative,        \
			  .type_class = (enum tp_field_class)TP_TYPE_CLASS(*(its_type *)0),                   \
			  .offset = offsetof(struct record, member), .size = sizeof(TP_MEMBER(record, member)), \
			  .element_size = sizeof(its_type), .element_align = _Alignof(its_type),              \
			  .is_signed = TP_C_TYPE(*(its_type *)0) >> TP_BIT_SIGNED & 1,                        \
			  .is_char = TP_C_TYPE(*(its_type *)0) >> TP_BIT_CHAR & 1},                           \
		.symbols = table, .delimiter = its_delimiter,                                                 \
	}

#endif /* DESCRIBE_H */
