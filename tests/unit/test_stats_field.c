/* SPDX-License-Identifier: MIT */
/*
 * test_stats_field.c - the values of fields: what is counted of them at the
 * edges of their types, and that the rows' add up.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/stats/stats.h"
#include "describe.h"
#include "util.h"

/* A field alone in a record, its numbers' rows, and the one in which is counted. */
static struct tp_stats_field field;
static struct tp_counters *counters;
static uint64_t *row;
static char *record;

#define RECORD_SIZE 256

static void begin(enum tp_stats_kind kind, uint32_t size, bool is_signed)
{
	const bool is_number = kind == TP_STATS_INTEGER || kind == TP_STATS_SYMBOL;

	field = (struct tp_stats_field){
		.kind = kind, .value = tp_value_at(is_number ? TP_SOURCE_NUMBER : TP_SOURCE_ARRAY, 0, size, is_signed),
	};
	if (kind == TP_STATS_SYMBOL || kind == TP_STATS_TEXT)
		ck_assert(tp_count_table_open(&field.table, (unsigned int)__builtin_ctz(TP_STATS_VALUES), TP_STATS_TEXT_WORDS, 1, 0, false));
	record = calloc(1, RECORD_SIZE);
	counters = tp_counters_new(TP_STATS_BUCKETS_AT + TP_STATS_BUCKETS);
	row = tp_counters_row(counters);
	ck_assert_ptr_ne(row, counters->shared);
}

static void end(void)
{
	if (field.table.slots)
		tp_count_table_close(&field.table);
	tp_counters_free(counters);
	free(record);
}

static void count(const void *value, size_t size)
{
	memcpy(record, value, size);
	tp_stats_field_count(&field, counters, row, record, RECORD_SIZE);
}

static struct tp_stats_numbers numbers(void)
{
	struct tp_stats_numbers n;

	tp_stats_numbers_take(&n, &field, counters);
	return n;
}

/* ---- Integers ---- */

#define INTEGER(type, ...)                                                                    \
	do {                                                                                  \
		const type values[] = {__VA_ARGS__};                                          \
		begin(TP_STATS_INTEGER, sizeof(type), (type)-1 < (type)1);                       \
		count_twice(values, sizeof(values) / sizeof(values[0]), sizeof(values[0]));   \
	} while (0)

static char *one;

/* "sum min max mean: FROM..TO=COUNT ..." */
static char *shown(void)
{
	const struct tp_stats_numbers n = numbers();
	struct tp_buffer b = {.text = NULL};
	const unsigned int nr = tp_stats_nr_buckets(&field);

	tp_stats_put_sum(&b, &n);
	tp_buffer_printf(&b, " ");
	tp_stats_put_integer(&b, &field, n.min);
	tp_buffer_printf(&b, " ");
	tp_stats_put_integer(&b, &field, n.max);
	tp_buffer_printf(&b, " %.6g:", tp_stats_mean(&n));
	for (unsigned int place = 0; place < nr; place++) {
		unsigned int i = tp_stats_bucket(nr, place);
		if (!n.buckets[i])
			continue;
		tp_buffer_printf(&b, " ");
		tp_stats_put_bucket(&b, &field, i, "..");
		tp_buffer_printf(&b, "=%llu", (unsigned long long)n.buckets[i]);
	}
	return b.text;
}

/* In a thread's row; and then in that of the threads that have none, too. */
static void count_twice(const void *values, size_t nr, size_t size)
{
	for (size_t i = 0; i < nr; i++)
		count((const char *)values + i * size, size);
	one = shown();
	row = counters->shared;
	for (size_t i = 0; i < nr; i++)
		count((const char *)values + i * size, size);
}

static void is_shown(const char *text, const char *doubled)
{
	char *two = shown();

	ck_assert_str_eq(one, text);
	ck_assert_str_eq(two, doubled);
	free(one);
	free(two);
	end();
}

TEST(small_integers)
{
	INTEGER(int32_t, 0, 1, -1, 2, 3, 4, -2, -3, -4);
	is_shown("0 -4 4 0: -4..-7=1 -2..-3=2 -1..-1=1 0..0=1 1..1=1 2..3=2 4..7=1",
		 "0 -4 4 0: -4..-7=2 -2..-3=4 -1..-1=2 0..0=2 1..1=2 2..3=4 4..7=2");
	INTEGER(int8_t, -128, 127);
	is_shown("-1 -128 127 -0.5: -128..-255=1 64..127=1", "-2 -128 127 -0.5: -128..-255=2 64..127=2");
	INTEGER(uint8_t, 128, 255);
	is_shown("383 128 255 191.5: 128..255=2", "766 128 255 191.5: 128..255=4");
	INTEGER(uint16_t, 0);
	is_shown("0 0 0 0: 0..0=1", "0 0 0 0: 0..0=2");
	INTEGER(int16_t, -32768);
	is_shown("-32768 -32768 -32768 -32768: -32768..-65535=1", "-65536 -32768 -32768 -32768: -32768..-65535=2");
	INTEGER(uint32_t, UINT32_MAX);
	is_shown("4294967295 4294967295 4294967295 4.29497e+09: 2147483648..4294967295=1",
		 "8589934590 4294967295 4294967295 4.29497e+09: 2147483648..4294967295=2");
}

TEST(largest_integers)
{
	INTEGER(int64_t, INT64_MIN, INT64_MIN);
	is_shown("-18446744073709551616 -9223372036854775808 -9223372036854775808 -9.22337e+18: "
		 "-9223372036854775808..-9223372036854775808=2",
		 "-36893488147419103232 -9223372036854775808 -9223372036854775808 -9.22337e+18: "
		 "-9223372036854775808..-9223372036854775808=4");
	INTEGER(int64_t, INT64_MAX, INT64_MIN);
	is_shown("-1 -9223372036854775808 9223372036854775807 -0.5: -9223372036854775808..-9223372036854775808=1 "
		 "4611686018427387904..9223372036854775807=1",
		 "-2 -9223372036854775808 9223372036854775807 -0.5: -9223372036854775808..-9223372036854775808=2 "
		 "4611686018427387904..9223372036854775807=2");
	INTEGER(uint64_t, UINT64_MAX, UINT64_MAX, 1);
	is_shown("36893488147419103231 1 18446744073709551615 1.22978e+19: 1..1=1 "
		 "9223372036854775808..18446744073709551615=2",
		 "73786976294838206462 1 18446744073709551615 1.22978e+19: 1..1=2 "
		 "9223372036854775808..18446744073709551615=4");
}

TEST(each_power_of_two)
{
	for (unsigned int n = 0; n < 64; n++) {
		begin(TP_STATS_INTEGER, 8, false);
		uint64_t value = (uint64_t)1 << n, last = value - 1 + value;
		count(&value, sizeof(value));
		count(&last, sizeof(last));
		ck_assert_uint_eq(numbers().buckets[1 + n], 2);
		end();
	}
}

/* ---- Floats ---- */

static struct tp_stats_numbers floats(const double *values, size_t nr)
{
	begin(TP_STATS_FLOAT, sizeof(double), false);
	for (size_t i = 0; i < nr; i++)
		count(&values[i], sizeof(values[i]));
	return numbers();
}

#define FLOATS(...) floats((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

TEST(finite_floats)
{
	const struct tp_stats_numbers n = FLOATS(0.0, -0.0, 1.0, 1.5, -1.0, 0.75, DBL_MAX, DBL_MIN, DBL_TRUE_MIN,
					      -DBL_MAX);

	ck_assert_uint_eq(n.count, 10);
	ck_assert_uint_eq(n.nan + n.infinite + n.negative_infinite, 0);
	ck_assert(tp_stats_float_of(n.min) == -DBL_MAX && tp_stats_float_of(n.max) == DBL_MAX);
	ck_assert_uint_eq(n.buckets[0], 2);
	ck_assert_uint_eq(n.buckets[1 - TP_STATS_LEAST], 2);                   /* 1 and 1.5 */
	ck_assert_uint_eq(n.buckets[1 - TP_STATS_LEAST - 1], 1);               /* 0.75 */
	ck_assert_uint_eq(n.buckets[1 + TP_STATS_EXPONENTS - TP_STATS_LEAST], 1); /* -1 */
	ck_assert_uint_eq(n.buckets[TP_STATS_EXPONENTS], 1);                   /* the greatest */
	ck_assert_uint_eq(n.buckets[1], 2);                                 /* the smallest */
	ck_assert_uint_eq(n.buckets[2 * TP_STATS_EXPONENTS], 1);
	end();
}

TEST(floats_that_are_no_numbers)
{
	const struct tp_stats_numbers n = FLOATS(NAN, -NAN, INFINITY, -INFINITY, INFINITY, 2.5);

	ck_assert_uint_eq(n.count, 1);
	ck_assert_uint_eq(n.nan, 2);
	ck_assert_uint_eq(n.infinite, 2);
	ck_assert_uint_eq(n.negative_infinite, 1);
	ck_assert(n.sum == 2.5 && tp_stats_float_of(n.min) == 2.5 && tp_stats_float_of(n.max) == 2.5);
	end();
}

TEST(single_floats)
{
	float value = -0.375f;

	begin(TP_STATS_FLOAT, sizeof(value), false);
	count(&value, sizeof(value));
	ck_assert(numbers().sum == -0.375);
	ck_assert_uint_eq(numbers().buckets[1 + TP_STATS_EXPONENTS - TP_STATS_LEAST - 2], 1);
	end();
}

TEST(buckets_of_floats)
{
	struct tp_buffer b = {.text = NULL};

	begin(TP_STATS_FLOAT, sizeof(double), false);
	for (unsigned int i = 0; i <= 2 * TP_STATS_EXPONENTS; i += TP_STATS_EXPONENTS / 2) {
		tp_stats_put_bucket(&b, &field, i, "..");
		tp_buffer_printf(&b, " ");
	}
	ck_assert_str_eq(b.text, "0..0 0.5..1 9.2233720368547758e+18..1.7976931348623157e+308 -0.5..-1 "
				 "-9.2233720368547758e+18..-1.7976931348623157e+308 ");
	tp_buffer_free(&b);
	end();
}

/* ---- Tables ---- */

static uint64_t count_of_value(const struct tp_stats_values *top, uint64_t word)
{
	uint64_t found = 0;

	for (size_t i = 0; i < top->nr; i++) {
		ck_assert(i == 0 || top->values[i].count <= top->values[i - 1].count);
		if (top->values[i].key[0] == word)
			found = top->values[i].count;
	}
	return found;
}

TEST(tables_overflow_into_other)
{
	const int32_t room = TP_STATS_VALUES;
	struct tp_stats_values top;

	begin(TP_STATS_SYMBOL, sizeof(int32_t), true);
	for (int32_t round = 0; round < 3; round++) {
		for (int32_t i = 0; i < room + 10; i++) {
			int32_t value = i - 100;
			count(&value, sizeof(value));
		}
	}
	tp_stats_values_take(&top, &field, 1);
	ck_assert_uint_eq(top.count, 3 * (room + 10));
	ck_assert_uint_eq(top.nr, room);
	ck_assert_uint_eq(top.other, 30);
	ck_assert_uint_eq(count_of_value(&top, (uint64_t)-100), 3);
	ck_assert_uint_eq(count_of_value(&top, 0), 3);
	ck_assert_uint_eq(count_of_value(&top, room - 100), 0);
	free(top.values);
	end();
}

TEST(texts)
{
	static const char *const values[] = {"", "a", "a", "b", "0123456", "01234567", "012345678", ""};
	char text[TP_STATS_TEXT_BYTES + 1];

	begin(TP_STATS_TEXT, 16, false);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		memset(record, 'x', 16);
		strcpy(record, values[i]);
		tp_stats_field_count(&field, counters, row, record, RECORD_SIZE);
	}
	memset(record, 'y', 32); /* no NUL in its 16 bytes */
	tp_stats_field_count(&field, counters, row, record, RECORD_SIZE);
	struct tp_stats_values top;
	tp_stats_values_take(&top, &field, 1);
	ck_assert_uint_eq(top.nr, 7);
	for (size_t i = 0; i < top.nr; i++) {
		tp_stats_text_of(text, top.values[i].key);
		ck_assert_uint_eq(strlen(text), top.values[i].key[0]);
		ck_assert_uint_eq(top.values[i].count, top.values[i].key[0] == 0 || strcmp(text, "a") == 0 ? 2 : 1);
	}
	free(top.values);
	end();
}

/* Where only the length says that they are not the same, and where nothing does. */
TEST(long_texts)
{
	struct tp_stats_values top;
	char text[TP_STATS_TEXT_BYTES + 1];

	begin(TP_STATS_TEXT, 200, false);
	for (int length = 60; length < 70; length++) {
		memset(record, 0, 200);
		memset(record, 'z', (size_t)length);
		tp_stats_field_count(&field, counters, row, record, RECORD_SIZE);
	}
	record[68] = 'q'; /* the last of 69 */
	tp_stats_field_count(&field, counters, row, record, RECORD_SIZE);
	tp_stats_values_take(&top, &field, 1);
	ck_assert_uint_eq(top.nr, 10);
	ck_assert_uint_eq(count_of_value(&top, 69), 2);
	ck_assert_uint_eq(count_of_value(&top, 63), 1);
	free(top.values);
	end();

	uint64_t key[TP_STATS_TEXT_WORDS] = {64};
	memset(key + 1, 'm', TP_STATS_TEXT_BYTES);
	memcpy((char *)(key + 1) + 62, "\xc3", 1); /* the first half of an umlaut */
	tp_stats_text_of(text, key);
	ck_assert_uint_eq(strlen(text), 62);
	memcpy((char *)(key + 1) + 30, "\xff", 1);
	tp_stats_text_of(text, key);
	ck_assert_uint_eq(strlen(text), 62);
}

LOOP_TEST(texts_elsewhere_in_the_record, 4)
{
	static const struct {
		enum tp_value_source source;
		uint32_t word;
		uint64_t len; /* 0: it is not within the record, which must not be read any further */
	} words[] = {
		{TP_SOURCE_DATA_LOC, 5u << 16 | 32, 4},
		{TP_SOURCE_REL_LOC, 5u << 16 | 20, 4},
		{TP_SOURCE_DATA_LOC, 5u << 16 | (RECORD_SIZE - 4), 0},
		{TP_SOURCE_REL_LOC, 5u << 16 | RECORD_SIZE, 0},
	};

	struct tp_stats_values top;

	begin(TP_STATS_TEXT, sizeof(tp_data_loc_t), false);
	field.value = tp_value_at(words[_i].source, 8, sizeof(tp_data_loc_t), false);
	memcpy(record + 8, &words[_i].word, sizeof(words[_i].word));
	memcpy(record + 32, "four", 5);
	tp_stats_field_count(&field, counters, row, record, RECORD_SIZE);
	tp_stats_values_take(&top, &field, 1);
	ck_assert_uint_eq(count_of_value(&top, words[_i].len), 1);
	free(top.values);
	end();
}

/* ---- Names ---- */

static void is_called(const char *delimiter, uint64_t value, const char *name)
{
	struct trace_print_flags symbols[] = {{1, "ONE"}, {2, "TWO"}, {4, ""}, {(unsigned long)-1, "ALL"}, {0, NULL}};
	struct tp_buffer b = {.text = NULL};

	ck_assert_int_eq(tp_value_names_put(&b, describe_symbols(symbols, delimiter), value), name != NULL);
	if (name)
		ck_assert_str_eq(b.text, name);
	tp_buffer_free(&b);
}

TEST(names)
{
	is_called(NULL, 1, "ONE");
	is_called(NULL, 3, NULL);
	is_called(NULL, 4, NULL); /* an empty one counts as none */
	is_called(NULL, UINT64_MAX, "ALL");
	is_called("|", 1, "ONE");
	is_called("|", 3, "ONE|TWO");
	is_called("|", 0x101, "ONE|0x100");
	is_called("|", 0x100, NULL);
	is_called("|", 0, NULL);
}
