/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/field.c - the value of a field: numbers are added to their sum, range and histogram; symbols and texts, each to
 * its count.
 */
#include <math.h>
#include <string.h>

#include "sinks/stats/stats.h"

#define TOP_BIT ((uint64_t)1 << 63)

/* ---- Numbers ---- */

/* The bucket comes last: whoever sees it sees its range, too. */
static inline void count_number(const struct tp_counters *counters, uint64_t *row, size_t at, unsigned int bucket, uint64_t order)
{
	tp_counters_raise(counters, row, at + TP_STATS_MIN, ~order);
	tp_counters_raise(counters, row, at + TP_STATS_MAX, order);
	tp_counters_add(counters, row, at + TP_STATS_BUCKETS_AT + bucket, 1);
}

static inline void count_integer(const struct tp_counters *counters, uint64_t *row, size_t at, uint64_t value, bool is_signed)
{
	const bool negative = is_signed && (int64_t)value < 0;
	const uint64_t magnitude = negative ? 0 - value : value;
	unsigned int bucket = 0;

	if (magnitude)
		bucket = (negative ? 1 + TP_STATS_BITS : 1) + (unsigned int)(63 - __builtin_clzll(magnitude));
	tp_counters_add_wide(counters, row, at + (negative ? TP_STATS_NEGATIVE : TP_STATS_POSITIVE), magnitude);
	count_number(counters, row, at, bucket, is_signed ? value ^ TOP_BIT : value);
}

static double load_float(const char *at, uint32_t size)
{
	double value;
	float single;

	if (size == sizeof(value)) {
		memcpy(&value, at, sizeof(value));
		return value;
	}
	memcpy(&single, at, sizeof(single));
	return (double)single;
}

/* By the bits of its exponent, which are those of the power of two that it is above. */
static unsigned int bucket_of(uint64_t bits)
{
	int exponent = (int)(bits >> 52 & 0x7ff) - 1023 - TP_STATS_LEAST;

	if (!(bits & ~TOP_BIT))
		return 0;
	if (exponent < 0)
		exponent = 0;
	if (exponent >= TP_STATS_EXPONENTS)
		exponent = TP_STATS_EXPONENTS - 1;
	return (bits & TOP_BIT ? 1 + TP_STATS_EXPONENTS : 1) + (unsigned int)exponent;
}

static void add_float(const struct tp_counters *counters, uint64_t *row, size_t at, double value)
{
	uint64_t found = __atomic_load_n(&row[at], __ATOMIC_RELAXED), bits;
	double sum;

	do {
		memcpy(&sum, &found, sizeof(sum));
		sum += value;
		memcpy(&bits, &sum, sizeof(bits));
	} while (!tp_counters_replace(counters, row, at, &found, bits));
}

static void count_float(const struct tp_counters *counters, uint64_t *row, size_t at, double value)
{
	uint64_t bits;

	if (!isfinite(value)) {
		tp_counters_add(counters, row,
				at + (isnan(value) ? TP_STATS_NAN : value > 0 ? TP_STATS_INFINITE : TP_STATS_NEGATIVE_INFINITE), 1);
		return;
	}
	add_float(counters, row, at + TP_STATS_SUM, value);
	memcpy(&bits, &value, sizeof(bits));
	count_number(counters, row, at, bucket_of(bits), bits & TOP_BIT ? ~bits : bits | TOP_BIT);
}

/* ---- Symbols and texts ---- */

static void count_key(struct tp_count_table *table, const struct tp_count_key *key)
{
	const uint32_t entry = tp_count_table_insert(table, key);

	if (entry != TP_COUNT_NO_ENTRY)
		tp_counters_add(table->counters, tp_counters_row(table->counters), entry, 1);
}

static void count_symbol(struct tp_count_table *table, uint64_t value)
{
	struct tp_count_key key;

	key.nr = 1;
	key.words[0] = value;
	count_key(table, &key);
}

/* One that is not in the record is as an empty one. */
static void count_text(struct tp_count_table *table, struct tp_value_bytes text)
{
	const size_t len = !text.at ? 0 : text.len < TP_STATS_TEXT_BYTES ? text.len : TP_STATS_TEXT_BYTES;
	struct tp_count_key key;

	key.nr = 0;
	tp_count_key_add_text(&key, text.at ? text.len : 0, text.at, len);
	count_key(table, &key);
}

/* ---- All of them ---- */

void tp_stats_field_count(struct tp_stats_field *field, const struct tp_counters *counters, uint64_t *row, const void *entry,
			  size_t size)
{
	const struct tp_value *value = &field->value;

	switch (field->kind) {
	case TP_STATS_INTEGER:
		count_integer(counters, row, field->at, tp_value_number_in(value, entry), value->is_signed);
		break;
	case TP_STATS_FLOAT:
		count_float(counters, row, field->at, load_float((const char *)entry + value->offset, value->size));
		break;
	case TP_STATS_SYMBOL:
		count_symbol(&field->table, tp_value_number_in(value, entry));
		break;
	case TP_STATS_TEXT:
		count_text(&field->table, tp_value_text(value, entry, size));
		break;
	}
}
