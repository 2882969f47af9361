/* SPDX-License-Identifier: MIT */
/*
 * field.h - what a field is to readers of other formats, which have integers,
 * floating point, and a base to show integers in.
 */
#ifndef TP_FIELD_H
#define TP_FIELD_H

#include <tp/event.h>

/* Its elements, each. */
static inline bool tp_field_is_integer(const struct tp_event_field *f)
{
	const uint32_t size = f->element_size;

	return (f->type_class == TP_INTEGER || f->type_class == TP_POINTER) &&
	       (size == 1 || size == 2 || size == 4 || size == 8);
}

static inline bool tp_field_is_float(const struct tp_event_field *f)
{
	return f->type_class == TP_FLOAT && (f->element_size == sizeof(float) || f->element_size == sizeof(double));
}

/* What is read bit by bit or byte by byte, addresses, and what says so. */
static inline bool tp_field_is_hexadecimal(const struct tp_event_field *f)
{
	return f->type_class == TP_POINTER || f->kind == TP_BITMASK || f->kind == TP_CPUMASK ||
	       f->kind == TP_SOCKADDR || f->delimiter || f->is_hexadecimal;
}

#endif /* TP_FIELD_H */
