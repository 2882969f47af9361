/* SPDX-License-Identifier: MIT */
/*
 * filter/decimal.c - see decimal.h.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter/decimal.h"
#include "filter/operand.h"

/* ---- What stands there ---- */

struct number {
	enum { INFINITE, INTEGER, DECIMAL } form;
	bool negative;
	uint64_t magnitude;            /* of an integer */
	char text[TP_DECIMAL_MAX + 1]; /* of a decimal number */
};

/* False: it is none. */
static bool read_number(struct number *number, const char *text, size_t len)
{
	const bool negative = len && text[0] == '-';
	const char *digits = text + negative;
	const size_t nr = len - negative;

	*number = (struct number){.form = DECIMAL, .negative = negative};
	if (nr == strlen("inf") && memcmp(digits, "inf", nr) == 0) {
		number->form = INFINITE;
		return true;
	}
	if (nr > 1 && digits[0] == '0' && !memchr(digits, '.', nr) && (digits[1] | 0x20) != 'e') {
		number->form = INTEGER;
		return tp_number_parse(digits, nr, false, &number->magnitude);
	}
	if (!nr || len > TP_DECIMAL_MAX)
		return false;
	memcpy(number->text, text, len);
	return strspn(number->text, "0123456789.eE+-") == len; /* strtod() takes more */
}

/* As all of strtod()'s family, but in the C locale. False: not all of the text is a number. */
static bool convert(const char *text, uint32_t bytes, void *value)
{
	const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *end = (char *)text;

	if (!c)
		return false;
	if (bytes == sizeof(float))
		*(float *)value = strtof_l(text, &end, c);
	else if (bytes == sizeof(double))
		*(double *)value = strtod_l(text, &end, c);
	else
		*(long double *)value = strtold_l(text, &end, c);
	freelocale(c);
	return end > text && !*end;
}

/* ---- The nearest float or double ---- */

static bool parse_float(const struct number *number, uint64_t *bits)
{
	float value = number->negative ? -(float)number->magnitude : (float)number->magnitude;
	uint32_t word;

	if (number->form == DECIMAL && !convert(number->text, sizeof(value), &value))
		return false;
	memcpy(&word, &value, sizeof(word));
	*bits = word;
	return true;
}

static bool parse_double(const struct number *number, uint64_t *bits)
{
	double value = number->negative ? -(double)number->magnitude : (double)number->magnitude;

	if (number->form == DECIMAL && !convert(number->text, sizeof(value), &value))
		return false;
	memcpy(bits, &value, sizeof(*bits));
	return true;
}

bool tp_float_parse(const char *text, size_t len, uint32_t bytes, uint64_t *bits)
{
	const uint64_t inf = tp_float_infinity(bytes);
	struct number number;

	if (!read_number(&number, text, len))
		return false;
	if (number.form == INFINITE) {
		*bits = inf | (uint64_t)number.negative << (8 * bytes - 1);
		return true;
	}
	return (bytes == sizeof(float) ? parse_float(&number, bits) : parse_double(&number, bits)) && (*bits & inf) != inf;
}

bool tp_long_double_parse(const char *text, size_t len, long double *value)
{
	struct number number;

	if (!read_number(&number, text, len))
		return false;
	*value = number.form == INFINITE ? (long double)HUGE_VAL : (long double)number.magnitude;
	if (number.negative)
		*value = -*value;
	if (number.form != DECIMAL)
		return true;
	return convert(number.text, sizeof(*value), value) && *value >= -LDBL_MAX && *value <= LDBL_MAX;
}

/* ---- The integers beside it ---- */

#define EXPONENT_MAX 1000000 /* as good as any that is larger */

/* The digits, with their point, and by which power of ten they are multiplied without it. False: the text is no number. */
static bool split(const char *text, size_t len, const char **digits, size_t *nr, long *exponent)
{
	const size_t before = strspn(text, "0123456789");
	const bool point = before < len && text[before] == '.';
	const size_t after = point ? strspn(text + before + 1, "0123456789") : 0;
	const char *end = text + before + point + after;
	char *last = (char *)end;

	*digits = text;
	*nr = (size_t)(end - text);
	*exponent = -(long)after;
	if (end < text + len && (*end | 0x20) == 'e') {
		const long given = strtol(end + 1, &last, 10);
		*exponent += given > EXPONENT_MAX ? EXPONENT_MAX : given < -EXPONENT_MAX ? -EXPONENT_MAX : given;
	}
	return before + after && last == text + len && (last == end || last > end + 1);
}

bool tp_decimal_parse(const char *text, size_t len, struct tp_decimal *decimal)
{
	char copy[TP_DECIMAL_MAX + 1] = "";
	const char *digits;
	size_t nr;
	long exponent;

	if (len > TP_DECIMAL_MAX)
		return false;
	memcpy(copy, text, len);
	*decimal = (struct tp_decimal){.negative = copy[0] == '-'};
	if (!split(copy + decimal->negative, len - decimal->negative, &digits, &nr, &exponent))
		return false;
	long place = (long)nr - (memchr(digits, '.', nr) != NULL) + exponent; /* digits from here on are the fraction's */
	for (size_t i = 0; i < nr; i++) {
		const unsigned int digit = (unsigned int)(digits[i] - '0');
		if (digits[i] == '.')
			continue;
		if (place-- <= 0)
			decimal->has_fraction |= digit != 0;
		else if (__builtin_mul_overflow(decimal->whole, 10, &decimal->whole) ||
			 __builtin_add_overflow(decimal->whole, digit, &decimal->whole))
			return false;
	}
	for (; decimal->whole && place > 0; place--) {
		if (__builtin_mul_overflow(decimal->whole, 10, &decimal->whole))
			return false;
	}
	return true;
}
