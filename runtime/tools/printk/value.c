/* SPDX-License-Identifier: MIT */
#include "printk/value.h"

#include <string.h>

#define INT_SIZE sizeof(int)

const struct type type_int = {.own = {TYPE_INTEGER, INT_SIZE, true, false}};
const struct type type_text = {.own = {TYPE_POINTER, sizeof(void *), false, false}, .target = {TYPE_INTEGER, 1, (char)-1 < 0, false}};
const struct type type_bytes = {.own = {TYPE_POINTER, sizeof(void *), false, false}, .target = {TYPE_OTHER, 1, false, false}};

/* ---- Types ---- */

struct type type_integer(size_t size, bool is_signed)
{
	return (struct type){.own = {TYPE_INTEGER, (uint8_t)size, is_signed, false}};
}

struct type type_promoted(struct type type)
{
	return type.own.kind == TYPE_INTEGER && type.own.size < INT_SIZE ? type_int : type;
}

static bool is_number(struct type type)
{
	return type.own.kind == TYPE_INTEGER || type.own.kind == TYPE_REAL;
}

static bool is_pointer(struct type type)
{
	return type.own.kind == TYPE_POINTER;
}

/* Of two integers, the wider type; of one width, the one without a sign. */
static struct type common_integer(struct type a, struct type b)
{
	a = type_promoted(a);
	b = type_promoted(b);
	if (a.own.size != b.own.size)
		return a.own.size > b.own.size ? a : b;
	return a.own.is_signed ? b : a;
}

bool type_common(struct type a, struct type b, struct type *common)
{
	if (is_pointer(a) || is_pointer(b)) {
		*common = is_pointer(a) ? a : b;
		return !(a.own.kind == TYPE_REAL || b.own.kind == TYPE_REAL || a.own.kind == TYPE_OTHER || b.own.kind == TYPE_OTHER);
	}
	if (!is_number(a) || !is_number(b))
		return false;
	if (a.own.kind == TYPE_REAL && b.own.kind == TYPE_REAL)
		*common = a.own.size > b.own.size ? a : b;
	else if (a.own.kind == TYPE_REAL || b.own.kind == TYPE_REAL)
		*common = a.own.kind == TYPE_REAL ? a : b;
	else
		*common = common_integer(a, b);
	return true;
}

static bool is_comparison(enum operator op)
{
	return op >= OPERATOR_LESS && op <= OPERATOR_NOT_EQUAL;
}

/* Elements of a known size. */
static bool has_elements(struct type type)
{
	return is_pointer(type) && type.target.size;
}

bool type_of_operation(enum operator op, struct type a, struct type b, struct type *result)
{
	*result = type_int;
	if (op >= OPERATOR_LOGICAL_AND)
		return a.own.kind != TYPE_OTHER && b.own.kind != TYPE_OTHER;
	if (is_comparison(op))
		return type_common(a, b, &a);
	if (is_number(a) && is_number(b) && op >= OPERATOR_MULTIPLY && op <= OPERATOR_SUBTRACT && op != OPERATOR_MODULO)
		return type_common(a, b, result);
	if (a.own.kind == TYPE_INTEGER && b.own.kind == TYPE_INTEGER) {
		*result = op == OPERATOR_LEFT || op == OPERATOR_RIGHT ? type_promoted(a) : common_integer(a, b);
		return true;
	}
	if (op == OPERATOR_SUBTRACT && has_elements(a) && is_pointer(b)) {
		*result = type_integer(sizeof(ptrdiff_t), true);
		return a.target.size == b.target.size;
	}
	*result = has_elements(a) ? a : b;
	return (op == OPERATOR_ADD && ((has_elements(a) && b.own.kind == TYPE_INTEGER) || (has_elements(b) && a.own.kind == TYPE_INTEGER))) ||
	       (op == OPERATOR_SUBTRACT && has_elements(a) && b.own.kind == TYPE_INTEGER);
}

/* ---- Values ---- */

/* The lowest bytes of the number, widened again. */
static uint64_t fitted(uint64_t value, struct basic_type type)
{
	const unsigned int unused = 64 - 8u * type.size;

	if (type.is_bool)
		return value != 0;
	if (!unused)
		return value;
	return type.is_signed ? (uint64_t)((int64_t)(value << unused) >> unused) : value << unused >> unused;
}

static long double rounded(long double real, struct basic_type type)
{
	if (type.size == sizeof(float))
		return (float)real;
	return type.size == sizeof(double) ? (double)real : real;
}

static long double real_of(const struct value *value)
{
	if (value->type.own.kind == TYPE_REAL)
		return value->real;
	return value->type.own.is_signed ? (long double)(int64_t)value->integer : (long double)value->integer;
}

/* A number behind the type's ends has no defined value, nor has what is none. */
static bool integer_of_real(long double real, struct basic_type type, uint64_t *integer)
{
	const unsigned int bits = 8u * type.size - type.is_signed;
	const long double limit = bits == 64 ? 0x1p64L : (long double)(UINT64_C(1) << bits);

	if (type.is_bool) {
		*integer = !(real == 0); /* what is no number is true */
		return true;
	}
	if (!(real < limit && real > (type.is_signed ? -limit - 1 : -1.0L)))
		return false;
	*integer = real < 0 ? (uint64_t)(int64_t)real : (uint64_t)real;
	return true;
}

static bool convert_to_integer(struct value *value, struct type type)
{
	uint64_t integer = value->integer;

	if (value->type.own.kind == TYPE_INTEGER) {
		value->type = type;
		value->integer = fitted(integer, type.own);
		return true;
	}
	if (value->type.own.kind == TYPE_REAL && !integer_of_real(value->real, type.own, &integer))
		return false;
	if (value->type.own.kind == TYPE_POINTER && value->at) {
		if (!type.own.is_bool)
			return false; /* where it was is not in the trace */
		integer = 1;
	}
	*value = (struct value){.type = type, .integer = fitted(integer, type.own)};
	return true;
}

bool value_fit(struct value *value, struct type type)
{
	switch (type.own.kind) {
	case TYPE_INTEGER:
		return convert_to_integer(value, type);
	case TYPE_REAL:
		*value = (struct value){.type = type, .real = rounded(real_of(value), type.own)};
		return true;
	case TYPE_POINTER:
		value->type = type;
		return true;
	default:
		return false;
	}
}

bool value_is_true(const struct value *value, bool *is_true)
{
	*is_true = value->type.own.kind == TYPE_REAL ? !(value->real == 0) : value->at || value->integer;
	return true;
}

void value_load(struct value *value, struct basic_type type, const unsigned char *at)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	float f;
	double d;

	*value = (struct value){.type = {.own = type}};
	if (type.kind == TYPE_REAL) {
		memcpy(&f, at, sizeof(f));
		if (type.size == sizeof(d))
			memcpy(&d, at, sizeof(d));
		value->real = type.size == sizeof(d) ? (long double)d : (long double)f;
		return;
	}
	switch (type.size) {
	case sizeof(u8):
		memcpy(&u8, at, sizeof(u8));
		value->integer = u8;
		break;
	case sizeof(u16):
		memcpy(&u16, at, sizeof(u16));
		value->integer = u16;
		break;
	case sizeof(u32):
		memcpy(&u32, at, sizeof(u32));
		value->integer = u32;
		break;
	default:
		memcpy(&value->integer, at, sizeof(value->integer));
	}
	if (!type.is_bool)
		value->integer = fitted(value->integer, type);
}

bool value_has_bytes(const struct value *pointer, uint64_t size)
{
	return pointer->type.own.kind == TYPE_POINTER && pointer->at && size <= (uint64_t)(pointer->end - pointer->at);
}

struct value value_of_text(const char *text, size_t len)
{
	const unsigned char *at = (const unsigned char *)text;

	return (struct value){.type = type_text, .at = at, .begin = at, .end = at + len + 1};
}

/* ---- Operations ---- */

static bool compare_to(struct value *result, enum operator op, bool less, bool equal, bool ordered)
{
	const bool greater = ordered && !less && !equal;

	result->integer = op == OPERATOR_LESS ? less : op == OPERATOR_GREATER ? greater :
			  op == OPERATOR_LESS_EQUAL ? less || equal : op == OPERATOR_GREATER_EQUAL ? greater || equal :
			  op == OPERATOR_EQUAL ? equal : !equal;
	return true;
}

static bool compute_reals(struct value *result, enum operator op, long double a, long double b)
{
	const struct basic_type type = result->type.own;

	if (is_comparison(op))
		return compare_to(result, op, a < b, a == b, !(a != a) && !(b != b));
	if (type.size == sizeof(double)) { /* rounded once, as the program did it */
		const double x = (double)a, y = (double)b;
		result->real = op == OPERATOR_MULTIPLY ? x * y : op == OPERATOR_DIVIDE ? x / y : op == OPERATOR_ADD ? x + y : x - y;
		return true;
	}
	result->real = rounded(op == OPERATOR_MULTIPLY ? a * b : op == OPERATOR_DIVIDE ? a / b : op == OPERATOR_ADD ? a + b : a - b, type);
	return true;
}

static bool divide(uint64_t *result, enum operator op, struct basic_type type, uint64_t a, uint64_t b)
{
	if (!b)
		return false;
	if (!type.is_signed) {
		*result = op == OPERATOR_DIVIDE ? a / b : a % b;
		return true;
	}
	if ((int64_t)b == -1) { /* of the lowest number, C does not say the result */
		*result = op == OPERATOR_DIVIDE ? -a : 0;
		return a != fitted(UINT64_C(1) << (8 * type.size - 1), type);
	}
	*result = (uint64_t)(op == OPERATOR_DIVIDE ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
	return true;
}

static bool shift(uint64_t *result, enum operator op, struct basic_type type, uint64_t a, const struct value *by)
{
	if (by->integer >= 8u * type.size)
		return false;
	if (op == OPERATOR_LEFT)
		*result = a << by->integer;
	else
		*result = type.is_signed ? (uint64_t)((int64_t)a >> by->integer) : a >> by->integer;
	return true;
}

/* Both have the type. Numbers wrap around, as they do in programs that nobody has told otherwise. */
static bool compute_integers(struct value *result, enum operator op, struct basic_type type, uint64_t a, uint64_t b)
{
	uint64_t integer = 0;

	if (is_comparison(op))
		return compare_to(result, op, type.is_signed ? (int64_t)a < (int64_t)b : a < b, a == b, true);
	switch (op) {
	case OPERATOR_MULTIPLY:
		integer = a * b;
		break;
	case OPERATOR_DIVIDE:
	case OPERATOR_MODULO:
		if (!divide(&integer, op, type, a, b))
			return false;
		break;
	case OPERATOR_ADD:
		integer = a + b;
		break;
	case OPERATOR_SUBTRACT:
		integer = a - b;
		break;
	case OPERATOR_AND:
		integer = a & b;
		break;
	case OPERATOR_XOR:
		integer = a ^ b;
		break;
	case OPERATOR_OR:
		integer = a | b;
		break;
	default:
		return false;
	}
	result->integer = fitted(integer, type);
	return true;
}

/* A pointer, moved by elements: it stays in its bytes, or points behind them. */
static bool move(struct value *result, const struct value *pointer, int64_t by)
{
	const struct type type = result->type;
	int64_t bytes;

	if (__builtin_mul_overflow(by, (int64_t)type.target.size, &bytes))
		return false;
	*result = *pointer;
	result->type = type;
	if (!pointer->at) {
		result->integer = pointer->integer + (uint64_t)bytes;
		return true;
	}
	if (bytes < pointer->begin - pointer->at || bytes > pointer->end - pointer->at)
		return false;
	result->at = pointer->at + bytes;
	return true;
}

static bool compute_pointers(struct value *result, enum operator op, const struct value *a, const struct value *b)
{
	if (op == OPERATOR_ADD && a->type.own.kind == TYPE_POINTER)
		return move(result, a, (int64_t)b->integer);
	if (op == OPERATOR_ADD)
		return move(result, b, (int64_t)a->integer);
	if (op == OPERATOR_SUBTRACT && b->type.own.kind != TYPE_POINTER)
		return (int64_t)b->integer != INT64_MIN && move(result, a, -(int64_t)b->integer);
	if (a->at && b->at && a->begin != b->begin)
		return false;
	if (!a->at != !b->at) /* an address of ours, and one of the program's: no NULL is one */
		return (a->at ? b : a)->integer == 0 && (op == OPERATOR_EQUAL || op == OPERATOR_NOT_EQUAL) &&
		       compare_to(result, op, false, false, true);
	const uint64_t x = a->at ? (uint64_t)(a->at - a->begin) : a->integer;
	const uint64_t y = b->at ? (uint64_t)(b->at - b->begin) : b->integer;
	if (is_comparison(op))
		return compare_to(result, op, x < y, x == y, true);
	result->integer = (uint64_t)((int64_t)(x - y) / a->type.target.size);
	return true;
}

bool value_compute(struct value *result, enum operator op, const struct value *a, const struct value *b)
{
	struct value x = *a, y = *b;
	struct type common;

	*result = (struct value){.type = type_int};
	if (!type_of_operation(op, a->type, b->type, &result->type))
		return false;
	if (is_pointer(a->type) || is_pointer(b->type))
		return compute_pointers(result, op, a, b);
	if (op == OPERATOR_LEFT || op == OPERATOR_RIGHT) {
		if (!value_convert(&x, result->type) || !shift(&x.integer, op, result->type.own, x.integer, b))
			return false;
		result->integer = fitted(x.integer, result->type.own);
		return true;
	}
	if (!type_common(a->type, b->type, &common) || !value_convert(&x, common) || !value_convert(&y, common))
		return false;
	if (common.own.kind == TYPE_REAL)
		return compute_reals(result, op, x.real, y.real);
	return compute_integers(result, op, common.own, x.integer, y.integer);
}
