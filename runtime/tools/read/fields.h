/* SPDX-License-Identifier: MIT */
/* fields.h - the fields of a record, as its format text describes them. */
#ifndef FIELDS_H
#define FIELDS_H

#include "read/formats.h"

#define FIELDS_COMPARED 1024 /* of an event, that are looked for among others, and among the metadata's: it takes the square of them */

enum field_kind {
	FIELD_SIGNED,
	FIELD_UNSIGNED,
	FIELD_REAL,
	FIELD_POINTER,
	FIELD_TEXT,  /* characters, up to a NUL */
	FIELD_BYTES, /* of a type that the text does not describe */
};

struct field {
	const char *name; /* a piece of the text */
	size_t name_len;
	uint32_t twins;   /* fields before it of the same name: C has such where one is a payload */
	const char *type; /* its name in the text, without qualifiers */
	size_t type_len;
	enum field_kind kind;
	bool is_array;
	bool is_payload;       /* the record has a word there that says where the values are */
	struct location place;
	uint32_t size;         /* bytes, but of a payload */
	uint32_t element_size; /* of a value */
};

struct fields {
	struct field *fields; /* each behind the one before, in the record */
	size_t nr;
	uint32_t word; /* bytes of a long and of a pointer in the program */
};

/* Whether names have such characters: compilers take dollars, and those of UTF-8. */
bool is_of_name(char c);

/* False, and a message, where there is no memory. Lines that make no sense, and the common fields, are left out. */
bool fields_of(struct fields *fields, const struct event_format *format);

/* NULL: there is none of this name. */
const struct field *field_named(const struct fields *fields, const char *name);

/* A value of the field that is a number, sign-extended if it has a sign. */
uint64_t field_number(const struct field *field, const unsigned char *at);

/* A floating-point number of so many bytes, those of a float or of a double. */
double real_number(const void *at, uint32_t size);

/* The bytes of a payload, and how many: none where a damaged trace says that they are outside of the record. */
const unsigned char *field_payload(const struct field *field, const unsigned char *record, uint32_t record_size,
				   uint32_t *size);

#endif /* FIELDS_H */
