/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/report.c - what text and JSON have in common: how values are called.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sinks/stats/stats.h"

#define NS_PER_S 1000000000u

uint64_t tp_stats_ns(const struct tp_clock *clock, uint64_t ticks)
{
	return ticks / clock->frequency * NS_PER_S + ticks % clock->frequency * NS_PER_S / clock->frequency;
}

/* ---- Numbers ---- */

/* The sum's magnitude; true where it is negative. */
static bool magnitude_of(const struct tp_stats_integers *n, uint64_t *high, uint64_t *low)
{
	const bool negative = n->sum_high < 0;

	*low = negative ? 0 - n->sum_low : n->sum_low;
	*high = negative ? ~(uint64_t)n->sum_high + (*low == 0) : (uint64_t)n->sum_high;
	return negative;
}

void tp_stats_put_sum(struct tp_buffer *b, const struct tp_stats_integers *n)
{
	char digits[40];
	char *at = digits + sizeof(digits);
	uint64_t high, low;
	const bool negative = magnitude_of(n, &high, &low);
	uint32_t parts[4] = {(uint32_t)(high >> 32), (uint32_t)high, (uint32_t)(low >> 32), (uint32_t)low};

	*--at = '\0';
	do { /* long division, by 10 */
		uint64_t rest = 0;
		for (size_t i = 0; i < 4; i++) {
			rest = rest << 32 | parts[i];
			parts[i] = (uint32_t)(rest / 10);
			rest %= 10;
		}
		*--at = (char)('0' + rest);
	} while (parts[0] || parts[1] || parts[2] || parts[3]);
	tp_buffer_printf(b, "%s%s", negative ? "-" : "", at);
}

double tp_stats_mean(const struct tp_stats_integers *n)
{
	uint64_t high, low;
	const bool negative = magnitude_of(n, &high, &low);
	const double mean = ((double)high * 18446744073709551616.0 + (double)low) / (double)n->count;

	return negative ? -mean : mean;
}

void tp_stats_put_integer(struct tp_buffer *b, const struct tp_stats_field *field, uint64_t order)
{
	if (field->value.is_signed)
		tp_buffer_printf(b, "%lld", (long long)(order ^ (uint64_t)1 << 63));
	else
		tp_buffer_printf(b, "%llu", (unsigned long long)order);
}

const uint64_t *tp_stats_buckets(const struct tp_stats_field *field, const void *counts, unsigned int *nr)
{
	*nr = 1 + 2 * (field->kind == TP_STATS_FLOAT ? TP_STATS_EXPONENTS : TP_STATS_BITS);
	return field->kind == TP_STATS_FLOAT ? ((const struct tp_stats_floats *)counts)->buckets
					  : ((const struct tp_stats_integers *)counts)->buckets;
}

/* Negative ones come first, and the largest of them last. */
unsigned int tp_stats_bucket(unsigned int nr, unsigned int place)
{
	const unsigned int half = nr / 2;

	return place < half ? nr - 1 - place : place - half;
}

/* 2^n of either sign. */
static double power(int n, bool negative)
{
	double value = 1;

	for (; n > 0; n--)
		value *= 2;
	for (; n < 0; n++)
		value /= 2;
	return negative ? -value : value;
}

static void put_bucket_of_floats(struct tp_buffer *b, unsigned int i, const char *between)
{
	const bool negative = i > TP_STATS_EXPONENTS;
	const int n = (int)(negative ? i - TP_STATS_EXPONENTS : i) - 1;
	double nearest = n == 0 ? 0 : power(n + TP_STATS_LEAST, negative);

	tp_buffer_printf(b, "%.17g%s", nearest, between);
	if (n == TP_STATS_EXPONENTS - 1)
		tp_buffer_printf(b, "%s1.7976931348623157e+308", negative ? "-" : "");
	else
		tp_buffer_printf(b, "%.17g", power(n + 1 + TP_STATS_LEAST, negative));
}

void tp_stats_put_bucket(struct tp_buffer *b, const struct tp_stats_field *field, unsigned int i, const char *between)
{
	const bool negative = i > TP_STATS_BITS;
	const unsigned int n = (negative ? i - TP_STATS_BITS : i) - 1;

	if (i == 0) {
		tp_buffer_printf(b, "0%s0", between);
	} else if (field->kind == TP_STATS_FLOAT) {
		put_bucket_of_floats(b, i, between);
	} else {
		const unsigned long long nearest = 1ull << n, farthest = nearest - 1 + nearest;
		const char *sign = negative ? "-" : "";
		tp_buffer_printf(b, "%s%llu%s%s%llu", sign, nearest, between, sign,
				 negative && n == TP_STATS_BITS - 1 ? nearest : farthest);
	}
}

/* ---- Tables ---- */

static int compare_values(const void *a, const void *b)
{
	const struct tp_stats_value *one = a, *two = b;

	if (one->count != two->count)
		return one->count < two->count ? 1 : -1;
	return one->key[0] == two->key[0] ? memcmp(one->key, two->key, TP_STATS_TEXT_WORDS * sizeof(uint64_t))
					  : one->key[0] < two->key[0] ? -1 : 1;
}

struct tp_stats_value *tp_stats_values(const struct tp_stats_field *field, const struct tp_stats_top *top, size_t *nr)
{
	const size_t words = 1 + (field->kind == TP_STATS_TEXT ? TP_STATS_TEXT_WORDS : TP_STATS_NUMBER_WORDS);
	struct tp_stats_value *values = malloc((top->used + 1) * sizeof(*values));

	*nr = 0;
	if (!values)
		return NULL;
	for (size_t i = 0; i < tp_stats_room[TP_STATS_TOTAL]; i++) {
		const uint64_t *entry = top->entries + i * words;
		if (entry[0])
			values[(*nr)++] = (struct tp_stats_value){.count = entry[0], .key = entry + 1};
	}
	qsort(values, *nr, sizeof(*values), compare_values);
	return values;
}

void tp_stats_text_of(char text[TP_STATS_TEXT_BYTES + 1], const uint64_t *key)
{
	size_t len = 0, step;

	memcpy(text, key + 1, TP_STATS_TEXT_BYTES + 1);
	if (key[0] <= TP_STATS_TEXT_BYTES)
		return;
	/* Up to the last character that is whole; bytes that are none stay. */
	while (len < TP_STATS_TEXT_BYTES && ((step = tp_utf8_char(text + len)) || len + 4 <= TP_STATS_TEXT_BYTES))
		len += step ? step : 1;
	text[len] = '\0';
}
