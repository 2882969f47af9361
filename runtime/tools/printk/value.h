/* SPDX-License-Identifier: MIT */
/* value.h - values as C computes with them: integers and floating-point numbers of C's types, and pointers to bytes. */
#ifndef PRINTK_VALUE_H
#define PRINTK_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum type_kind {
	TYPE_INTEGER,
	TYPE_REAL,
	TYPE_POINTER,
	TYPE_OTHER, /* void, or a structure: there is no value of it */
};

struct basic_type {
	uint8_t kind; /* enum type_kind */
	uint8_t size; /* bytes; of long double 16; 0: not known */
	bool is_signed;
	bool is_bool;
};

struct type {
	struct basic_type own;
	struct basic_type target; /* what a pointer points to */
};

struct value {
	struct type type;
	uint64_t integer; /* widened as its type says; or a pointer to bytes that are not here, and then at is NULL */
	long double real;
	const unsigned char *at;          /* of a pointer: the bytes that are here ... */
	const unsigned char *begin, *end; /* ... and may be looked at */
};

enum operator {
	OPERATOR_NONE,
	OPERATOR_MULTIPLY, OPERATOR_DIVIDE, OPERATOR_MODULO, OPERATOR_ADD, OPERATOR_SUBTRACT, OPERATOR_LEFT, OPERATOR_RIGHT,
	OPERATOR_LESS, OPERATOR_GREATER, OPERATOR_LESS_EQUAL, OPERATOR_GREATER_EQUAL, OPERATOR_EQUAL, OPERATOR_NOT_EQUAL,
	OPERATOR_AND, OPERATOR_XOR, OPERATOR_OR, OPERATOR_LOGICAL_AND, OPERATOR_LOGICAL_OR,
};

extern const struct type type_int, type_text, type_bytes; /* "int", "char *", "void *" */

struct type type_integer(size_t size, bool is_signed);

/* Bytes of a long long, whatever a long has. */
#define LONGEST sizeof(uint64_t)

/* An integer that is narrower becomes an int. */
struct type type_promoted(struct type type);

/* What both become in an operation, or as the two results of "?:". False: they do not go together. */
bool type_common(struct type a, struct type b, struct type *common);

/* The type of a result. False: C has no such operation. */
bool type_of_operation(enum operator op, struct type a, struct type b, struct type *result);

/* All of these are false where C does not say what comes out, as of a division by 0. */
bool value_fit(struct value *value, struct type type); /* the same as value_convert(), of a number that may have more bits than its type */
bool value_compute(struct value *result, enum operator op, const struct value *a, const struct value *b);
bool value_is_true(const struct value *value, bool *is_true);

/* Most integers have the type already. */
static inline bool value_convert(struct value *value, struct type type)
{
	return (type.own.kind == TYPE_INTEGER && memcmp(&type.own, &value->type.own, sizeof(type.own)) == 0) || value_fit(value, type);
}

/* The value of the type whose bytes these are, at any address. */
void value_load(struct value *value, struct basic_type type, const unsigned char *at);

/* Whether a pointer has so many bytes here. */
bool value_has_bytes(const struct value *pointer, uint64_t size);

struct value value_of_text(const char *text, size_t len);

#endif /* PRINTK_VALUE_H */
