/* SPDX-License-Identifier: MIT */
/*
 * print/description.h - the description of an event class: struct tp_event_class in tp/event.h. tpgen's macros make it
 * while a program is compiled; classes that come into being later are written here. It has no pointers: it can be copied.
 */
#ifndef TP_DESCRIPTION_H
#define TP_DESCRIPTION_H

#include <tp/event.h>

/* Bytes of the whole. */
size_t tp_class_size(const struct tp_event_class *event_class);

/* The print format as ftrace has it. */
const char *tp_class_print_fmt(const struct tp_event_class *event_class);

/* A constant that the format names. Zeros are in front of the first. */
struct tp_named_eval {
	long long value;
	const char *name;
	uint32_t nr; /* how many were before it, and itself */
};

/* Goes on to the next that the C compiler knew. False: there is none. */
bool tp_class_next_eval(const struct tp_event_class *event_class, struct tp_named_eval *eval);

/* All fields, in an array to be freed. NULL: there are none, or there is no memory. */
struct tp_event_field *tp_class_fields(const struct tp_event_class *event_class);

size_t tp_symbols_size(const struct tp_symbols *symbols);
/* NULL for a table that is not one of flags. */
const char *tp_symbols_delimiter(const struct tp_symbols *symbols);

/* A class that is not known to a compiler. */
struct tp_class_parts {
	const struct tp_event_field *fields;
	uint32_t nr_fields, fixed_size;
	const char *print_fmt;
};

/* To be freed. NULL: no memory. */
struct tp_event_class *tp_class_new(const struct tp_class_parts *parts);

/* tp_event_format() for an event that has its class. In format.c. */
int tp_format_append(const struct tp_event *event, struct trace_seq *s);

#endif /* TP_DESCRIPTION_H */
