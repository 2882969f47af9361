/* SPDX-License-Identifier: MIT */
/*
 * field_types.h - what the numbers of fields are: of a type that a program has called by a name of its own, the format file
 * does not say whether it is floating point, nor how wide an element of a payload is. The metadata does.
 */
#ifndef FIELD_TYPES_H
#define FIELD_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct field_type {
	uint32_t id;      /* the event's */
	const char *name; /* the field's, as TSDL has it behind an underscore; a piece of the text */
	size_t name_len;
	bool is_real;     /* else an integer */
	bool is_signed;
	uint32_t size;    /* bytes of a number */
};

/* In the order of the ids. Zeros are none. */
struct field_types {
	char *text;
	uint32_t word; /* bytes of a long and of a pointer where the trace was recorded */
	struct field_type *types;
	size_t nr;
};

/* Takes the text over, which is the metadata. False, and a message, where there is no memory. */
bool field_types_read(struct field_types *types, char *text);
void field_types_free(struct field_types *types);

/* Those of an event, and how many. */
const struct field_type *field_types_of(const struct field_types *types, uint32_t id, size_t *nr);

#endif /* FIELD_TYPES_H */
