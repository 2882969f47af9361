/* SPDX-License-Identifier: MIT */
/*
 * filter/decimal.c - see decimal.h.
 */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "filter/decimal.h"
#include "filter/operand.h"

/* ---- The nearest float or double ---- */

static uint64_t bits_of_double(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t bits_of_float(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Of a decimal number, in the C locale's form. The double's float could be another than the number's. */
static bool nearest(const char *text, size_t len, uint32_t bytes, uint64_t *bits)
{
	const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char copy[TP_DECIMAL_MAX + 1] = "", *end = copy;

	if (!c)
		return false;
	memcpy(copy, text, len);
	*bits = bytes == sizeof(float) ? bits_of_float(strtof_l(copy, &end, c)) : bits_of_double(strtod_l(copy, &end, c));
	freelocale(c);
	return end == copy + len && (*bits & tp_float_infinity(bytes)) != tp_float_infinity(bytes);
}

static void from_integer(uint64_t magnitude, bool negative, uint32_t bytes, uint64_t *bits)
{
	if (bytes == sizeof(float))
		*bits = bits_of_float(negative ? -(float)magnitude : (float)magnitude);
	else
		*bits = bits_of_double(negative ? -(double)magnitude : (double)magnitude);
}

bool tp_float_parse(const char *text, size_t len, uint32_t bytes, uint64_t *bits)
{
	const bool negative = len && text[0] == '-';
	const char *digits = text + negative;
	const size_t nr = len - negative;
	uint64_t magnitude;

	if (nr == strlen("inf") && memcmp(digits, "inf", nr) == 0) {
		*bits = tp_float_infinity(bytes) | (uint64_t)negative << (8 * bytes - 1);
		return true;
	}
	if (nr > 1 && digits[0] == '0' && !memchr(digits, '.', nr) && (digits[1] | 0x20) != 'e') {
		if (!tp_number_parse(digits, nr, false, &magnitude))
			return false;
		from_integer(magnitude, negative, bytes, bits);
		return true;
	}
	for (size_t i = 0; i < len; i++) {
		if (!strchr("0123456789.eE+-", text[i])) /* strtod() takes more */
			return false;
	}
	return nr && len <= TP_DECIMAL_MAX && nearest(text, len, bytes, bits);
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
