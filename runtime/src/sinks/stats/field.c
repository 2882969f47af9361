/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/field.c - the values of a field: numbers with their sum, range and
 * histogram; symbols and texts, each with its count.
 */
#include <math.h>
#include <string.h>

#include "sinks/stats/stats.h"

const uint32_t tp_stats_room[TP_STATS_NR_PLACES] = {[TP_STATS_OF_THREAD] = 256, [TP_STATS_TOTAL] = 4096};

#define TOP_BIT ((uint64_t)1 << 63)

static unsigned int words_of(const struct tp_stats_field *field)
{
	return field->kind == TP_STATS_TEXT ? TP_STATS_TEXT_WORDS : TP_STATS_NUMBER_WORDS;
}

uint32_t tp_stats_field_size(const struct tp_stats_field *field, enum tp_stats_place place)
{
	switch (field->kind) {
	case TP_STATS_INTEGER:
		return sizeof(struct tp_stats_integers);
	case TP_STATS_FLOAT:
		return sizeof(struct tp_stats_floats);
	default:
		return (uint32_t)(sizeof(struct tp_stats_top) +
				  (size_t)tp_stats_room[place] * (1 + words_of(field)) * sizeof(uint64_t));
	}
}

/* ---- Numbers ---- */

static inline void count_integer(struct tp_stats_integers *n, uint64_t value, bool is_signed)
{
	const bool negative = is_signed && (int64_t)value < 0;
	const uint64_t magnitude = negative ? 0 - value : value;
	const uint64_t order = is_signed ? value ^ TOP_BIT : value;
	unsigned int bucket = 0;

	if (magnitude)
		bucket = (negative ? 1 + TP_STATS_BITS : 1) + (unsigned int)(63 - __builtin_clzll(magnitude));
	n->buckets[bucket]++;
	n->sum_high += (int64_t)__builtin_add_overflow(n->sum_low, value, &n->sum_low) - negative;
	if (!n->count++) {
		n->min = n->max = order;
		return;
	}
	if (order < n->min)
		n->min = order;
	if (order > n->max)
		n->max = order;
}

static void add_integers(struct tp_stats_integers *total, const struct tp_stats_integers *n)
{
	if (!n->count)
		return;
	if (!total->count || n->min < total->min)
		total->min = n->min;
	if (!total->count || n->max > total->max)
		total->max = n->max;
	total->count += n->count;
	total->sum_high += n->sum_high + (int64_t)__builtin_add_overflow(total->sum_low, n->sum_low, &total->sum_low);
	for (size_t i = 0; i < sizeof(n->buckets) / sizeof(n->buckets[0]); i++)
		total->buckets[i] += n->buckets[i];
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
static unsigned int bucket_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	int exponent = (int)(bits >> 52 & 0x7ff) - 1023 - TP_STATS_LEAST;
	if (!(bits & ~TOP_BIT))
		return 0;
	if (exponent < 0)
		exponent = 0;
	if (exponent >= TP_STATS_EXPONENTS)
		exponent = TP_STATS_EXPONENTS - 1;
	return (bits & TOP_BIT ? 1 + TP_STATS_EXPONENTS : 1) + (unsigned int)exponent;
}

static void count_float(struct tp_stats_floats *n, double value)
{
	if (!isfinite(value)) {
		(*(isnan(value) ? &n->nan : value > 0 ? &n->infinite : &n->negative_infinite))++;
		return;
	}
	n->buckets[bucket_of(value)]++;
	n->sum += value;
	if (!n->count++) {
		n->min = n->max = value;
		return;
	}
	if (value < n->min)
		n->min = value;
	if (value > n->max)
		n->max = value;
}

static void add_floats(struct tp_stats_floats *total, const struct tp_stats_floats *n)
{
	total->nan += n->nan;
	total->infinite += n->infinite;
	total->negative_infinite += n->negative_infinite;
	if (!n->count)
		return;
	if (!total->count || n->min < total->min)
		total->min = n->min;
	if (!total->count || n->max > total->max)
		total->max = n->max;
	total->count += n->count;
	total->sum += n->sum;
	for (size_t i = 0; i < sizeof(n->buckets) / sizeof(n->buckets[0]); i++)
		total->buckets[i] += n->buckets[i];
}

/* ---- Tables ---- */

static inline uint64_t hash_of(const uint64_t *key, unsigned int words)
{
	uint64_t hash = 0;

	for (unsigned int i = 0; i < words; i++) {
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash;
}

static inline bool same(const uint64_t *a, const uint64_t *b, unsigned int words)
{
	for (unsigned int i = 0; i < words; i++) {
		if (a[i] != b[i])
			return false;
	}
	return true;
}

/* The first used words say which the key is: the others are 0 in all that are like it in these. */
static inline void top_add(struct tp_stats_top *top, uint32_t room, const uint64_t *key, unsigned int words,
			   unsigned int used, uint64_t count)
{
	uint64_t *entry;

	top->count += count;
	for (uint64_t i = hash_of(key, used);; i++) {
		entry = top->entries + (i & (room - 1)) * (1 + words);
		if (!entry[0])
			break;
		if (same(entry + 1, key, used)) {
			entry[0] += count;
			return;
		}
	}
	if (top->used >= room - room / 4) {
		top->other += count;
		return;
	}
	top->used++;
	entry[0] = count;
	memcpy(entry + 1, key, words * sizeof(uint64_t));
}

static unsigned int used_of_text(uint64_t length)
{
	return 1 + (unsigned int)(length < TP_STATS_TEXT_BYTES ? (length + 7) / 8 : TP_STATS_TEXT_WORDS - 1);
}

/* One that is not in the record is as an empty one. */
static void count_text(struct tp_stats_top *top, struct tp_value_bytes text)
{
	uint64_t key[TP_STATS_TEXT_WORDS] = {text.at ? text.len : 0};
	size_t len = key[0] < TP_STATS_TEXT_BYTES ? (size_t)key[0] : TP_STATS_TEXT_BYTES;

	if (len)
		memcpy(key + 1, text.at, len);
	top_add(top, tp_stats_room[TP_STATS_OF_THREAD], key, TP_STATS_TEXT_WORDS, used_of_text(key[0]), 1);
}

static void add_top(const struct tp_stats_field *field, struct tp_stats_top *total, const struct tp_stats_top *top)
{
	const unsigned int words = words_of(field);

	for (uint32_t i = 0; i < tp_stats_room[TP_STATS_OF_THREAD]; i++) {
		const uint64_t *entry = top->entries + (size_t)i * (1 + words);
		if (entry[0])
			top_add(total, tp_stats_room[TP_STATS_TOTAL], entry + 1, words,
				field->kind == TP_STATS_TEXT ? used_of_text(entry[1]) : words, entry[0]);
	}
	total->other += top->other;
	total->count += top->other;
}

/* ---- All of them ---- */

void tp_stats_field_count(const struct tp_stats_field *field, void *counts, const void *entry, size_t size)
{
	const struct tp_value *value = &field->value;
	uint64_t key;

	switch (field->kind) {
	case TP_STATS_INTEGER:
		count_integer(counts, tp_value_number_in(value, entry), value->is_signed);
		break;
	case TP_STATS_FLOAT:
		count_float(counts, load_float((const char *)entry + value->offset, value->size));
		break;
	case TP_STATS_SYMBOL:
		key = tp_value_number_in(value, entry);
		top_add(counts, tp_stats_room[TP_STATS_OF_THREAD], &key, TP_STATS_NUMBER_WORDS, TP_STATS_NUMBER_WORDS, 1);
		break;
	case TP_STATS_TEXT:
		count_text(counts, tp_value_text(value, entry, size));
		break;
	}
}

void tp_stats_field_add(const struct tp_stats_field *field, void *total, const void *counts)
{
	switch (field->kind) {
	case TP_STATS_INTEGER:
		add_integers(total, counts);
		break;
	case TP_STATS_FLOAT:
		add_floats(total, counts);
		break;
	case TP_STATS_SYMBOL:
	case TP_STATS_TEXT:
		add_top(field, total, counts);
		break;
	}
}
