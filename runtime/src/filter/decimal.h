/* SPDX-License-Identifier: MIT */
/*
 * filter/decimal.h - numbers with a point or an exponent: what floating-point fields are compared with.
 */
#ifndef TP_FILTER_DECIMAL_H
#define TP_FILTER_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TP_DECIMAL_MAX 63 /* bytes of its text */

/*
 * The bits of the float (4 bytes) or double (8) that is next to the number. The whole text is the number: decimal, whatever the
 * locale is; "inf"; or an integer as tp_number_parse() takes it. False: it is none, or is too large.
 */
bool tp_float_parse(const char *text, size_t len, uint32_t bytes, uint64_t *bits);

/* The same of a long double. */
bool tp_long_double_parse(const char *text, size_t len, long double *value);

/* A decimal number, beside the integers. */
struct tp_decimal {
	bool negative;
	uint64_t whole;    /* without its fraction and its sign */
	bool has_fraction; /* which is not 0 */
};

/* The whole text is the number: DIGITS[.DIGITS][eEXPONENT]. False: it is none, or whole has no room for it. */
bool tp_decimal_parse(const char *text, size_t len, struct tp_decimal *decimal);

/* The bits of inf. All others that have these are NaNs, or -inf. */
static inline uint64_t tp_float_infinity(uint32_t bytes)
{
	return bytes == sizeof(float) ? UINT64_C(0x7f800000) : UINT64_C(0x7ff0000000000000);
}

/*
 * Of a float or a double whose bits stand as high in 64 bits as they go: a number that is larger where the value is. -0 is next
 * to 0. NaNs are above inf and below -inf. So values are compared as in C, but whatever the thread's rounding mode is, and also
 * where it takes the smallest numbers for 0 (-ffast-math).
 */
static inline uint64_t tp_float_order(uint64_t high)
{
	return high ^ ((uint64_t)((int64_t)high >> 63) | UINT64_C(1) << 63);
}

#endif /* TP_FILTER_DECIMAL_H */
