/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/values.c - the values of fields, as they are now, and what text and JSON have in common: how they are called.
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

static void add_wide(uint64_t sum[2], const uint64_t *words)
{
	const uint64_t low = __atomic_load_n(&words[0], __ATOMIC_RELAXED);

	sum[1] += __atomic_load_n(&words[1], __ATOMIC_RELAXED) + __builtin_add_overflow(sum[0], low, &sum[0]);
}

static double load_float(const uint64_t *word)
{
	const uint64_t bits = __atomic_load_n(word, __ATOMIC_RELAXED);
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* The buckets come first, in which values are counted last. */
static void add_words(struct tp_stats_numbers *n, const struct tp_stats_field *field, const uint64_t *words)
{
	const unsigned int nr = tp_stats_nr_buckets(field);

	for (unsigned int i = 0; i < nr; i++) {
		const uint64_t count = __atomic_load_n(&words[TP_STATS_BUCKETS_AT + i], __ATOMIC_RELAXED);
		n->buckets[i] += count;
		n->count += count;
	}
	const uint64_t min = ~__atomic_load_n(&words[TP_STATS_MIN], __ATOMIC_RELAXED);
	const uint64_t max = __atomic_load_n(&words[TP_STATS_MAX], __ATOMIC_RELAXED);
	n->min = min < n->min ? min : n->min;
	n->max = max > n->max ? max : n->max;
	if (field->kind == TP_STATS_FLOAT) {
		n->nan += __atomic_load_n(&words[TP_STATS_NAN], __ATOMIC_RELAXED);
		n->infinite += __atomic_load_n(&words[TP_STATS_INFINITE], __ATOMIC_RELAXED);
		n->negative_infinite += __atomic_load_n(&words[TP_STATS_NEGATIVE_INFINITE], __ATOMIC_RELAXED);
		n->sum += load_float(&words[TP_STATS_SUM]);
	} else {
		add_wide(n->positive, &words[TP_STATS_POSITIVE]);
		add_wide(n->negative, &words[TP_STATS_NEGATIVE]);
	}
}

void tp_stats_numbers_take(struct tp_stats_numbers *n, const struct tp_stats_field *field, const struct tp_counters *counters)
{
	const uint32_t used = tp_counters_used(counters);

	*n = (struct tp_stats_numbers){.min = UINT64_MAX};
	for (uint32_t i = 0; i < used; i++) {
		const uint64_t *row = tp_counters_row_of(counters, i);
		if (row)
			add_words(n, field, row + field->at);
	}
}

/* The sum's magnitude; true where it is negative. */
static bool magnitude_of(const struct tp_stats_numbers *n, uint64_t *high, uint64_t *low)
{
	const bool negative = n->positive[1] != n->negative[1] ? n->positive[1] < n->negative[1] : n->positive[0] < n->negative[0];
	const uint64_t *more = negative ? n->negative : n->positive, *less = negative ? n->positive : n->negative;

	*low = more[0] - less[0];
	*high = more[1] - less[1] - (more[0] < less[0]);
	return negative;
}

void tp_stats_put_sum(struct tp_buffer *b, const struct tp_stats_numbers *n)
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

double tp_stats_mean(const struct tp_stats_numbers *n)
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

double tp_stats_float_of(uint64_t order)
{
	const uint64_t top = (uint64_t)1 << 63;
	const uint64_t bits = order & top ? order ^ top : ~order;

	return load_float(&bits);
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
	if (one->key[0] != two->key[0])
		return one->key[0] < two->key[0] ? -1 : 1;
	return memcmp(one->key, two->key, one->nr_words * sizeof(uint64_t));
}

struct taking {
	struct tp_stats_values *values;
	const struct tp_count_table *table;
	size_t room;
};

/* One without a count has come just now. */
static void take_value(uint32_t number, void *data)
{
	const struct taking *taking = data;
	struct tp_stats_values *values = taking->values;
	const struct tp_count_entry *entry = tp_count_entry_at(taking->table, number);
	const struct tp_stats_value value = {tp_count_sum(taking->table, number, 0), entry->words, entry->nr_words};

	if (!value.count || values->nr == taking->room)
		return;
	values->values[values->nr++] = value;
	values->rest += value.count;
}

void tp_stats_values_take(struct tp_stats_values *values, const struct tp_stats_field *field, uint64_t shown)
{
	const struct tp_count_table *table = &field->table;
	const size_t room = tp_count_table_used(table);
	struct taking taking = {values, table, room};

	*values = (struct tp_stats_values){.values = tp_malloc(room * sizeof(*values->values) + 1),
					   .other = __atomic_load_n(&table->drops, __ATOMIC_RELAXED)};
	if (!values->values)
		return;
	tp_count_table_each(table, take_value, &taking);
	qsort(values->values, values->nr, sizeof(*values->values), compare_values);
	values->count = values->rest + values->other;
	values->shown = values->nr < shown ? values->nr : (size_t)shown;
	for (size_t i = 0; i < values->shown; i++)
		values->rest -= values->values[i].count;
}

void tp_stats_text_of(char text[TP_STATS_TEXT_BYTES + 1], const uint64_t *key)
{
	size_t len = 0, step;

	memset(text, 0, TP_STATS_TEXT_BYTES + 1);
	memcpy(text, key + 1, (size_t)(key[0] < TP_STATS_TEXT_BYTES ? key[0] : TP_STATS_TEXT_BYTES));
	if (key[0] <= TP_STATS_TEXT_BYTES)
		return;
	/* Up to the last character that is whole; bytes that are none stay. */
	while (len < TP_STATS_TEXT_BYTES && ((step = tp_utf8_char(text + len)) || len + 4 <= TP_STATS_TEXT_BYTES))
		len += step ? step : 1;
	text[len] = '\0';
}
