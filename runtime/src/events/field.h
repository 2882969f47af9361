/* SPDX-License-Identifier: MIT */
/*
 * events/field.h - what a field is to readers of other formats, which have integers,
 * floating point, a base to show integers in, and names of values.
 */
#ifndef TP_FIELD_H
#define TP_FIELD_H

#include <limits.h>
#include <string.h>

#include <tp/event.h>

#include "base/text.h"

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

/* The value of an integer field that is there; a signed one's as if it had 64 bits. */
static inline uint64_t tp_field_load(const struct tp_event_field *f, const void *at)
{
	switch (f->size) {
	case 1:
		return f->is_signed ? (uint64_t)*(const int8_t *)at : *(const uint8_t *)at;
	case 2:
		return f->is_signed ? (uint64_t)*(const int16_t *)at : *(const uint16_t *)at;
	case 4:
		return f->is_signed ? (uint64_t)*(const int32_t *)at : *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* What is read bit by bit or byte by byte, addresses, and what says so. */
static inline bool tp_field_is_hexadecimal(const struct tp_event_field *f)
{
	return f->type_class == TP_POINTER || f->kind == TP_BITMASK || f->kind == TP_CPUMASK ||
	       f->kind == TP_SOCKADDR || f->delimiter || f->is_hexadecimal;
}

/*
 * A value of a table as an element holds it, where it can. What fits into an unsigned long was one, unless __print_symbolic_u64
 * has it.
 */
static inline bool tp_field_fits(const struct tp_event_field *f, unsigned long long value)
{
	const unsigned int bits = f->element_size * CHAR_BIT, wide = sizeof(value) * CHAR_BIT;

	if (bits == sizeof(long) * CHAR_BIT)
		return value <= ULONG_MAX;
	if (bits > sizeof(long) * CHAR_BIT) /* __print_symbolic saw a long of it */
		return bits >= wide && (!f->is_signed || value > ULONG_MAX || (long)value >= 0);
	if (!f->is_signed)
		return value >> bits == 0;
	if (value > ULONG_MAX)
		return false;
	return (long)value >= -(1L << (bits - 1)) && (long)value < 1L << (bits - 1);
}

/* Whether it is this entry of its symbols that prints for its value: the first with it. */
static inline bool tp_field_shows(const struct tp_event_field *f, const struct tp_named_value *entry)
{
	struct tp_named_value before = {.nr = 0};

	while (tp_named_value_next(f->symbols, &before) && before.nr < entry->nr) {
		if (before.value == entry->value)
			return false;
	}
	return entry->name[0] != '\0' && tp_field_fits(f, entry->value);
}

/*
 * Appends a field's name as TSDL has it behind an underscore, which keeps it from being a keyword, but for three. Several
 * may come out as one.
 */
static inline void tp_field_put_name(struct tp_buffer *b, const char *name)
{
	tp_buffer_put_identifier(b, name, strlen(name));
	if (strcmp(name, "Bool") == 0 || strcmp(name, "Complex") == 0 || strcmp(name, "Imaginary") == 0)
		tp_buffer_printf(b, "_");
}

#endif /* TP_FIELD_H */
