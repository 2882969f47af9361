/* SPDX-License-Identifier: MIT */
/*
 * test_stats_field.c - the values of fields: what is counted of them at the
 * edges of their types, and that two threads' add up.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinks/stats/stats.h"
#include "describe.h"
#include "util.h"

/* A field alone in a record, and its counts; total has two threads'. */
static struct tp_stats_field field;
static char *record, *counts, *total;

#define RECORD_SIZE 256

static void begin(enum tp_stats_kind kind, uint32_t size, bool is_signed)
{
	const bool is_number = kind == TP_STATS_INTEGER || kind == TP_STATS_SYMBOL;

	field = (struct tp_stats_field){
		.kind = kind, .value = tp_value_at(is_number ? TP_SOURCE_NUMBER : TP_SOURCE_ARRAY, 0, size, is_signed),
	};
	record = calloc(1, RECORD_SIZE);
	counts = calloc(1, tp_stats_field_size(&field, TP_STATS_OF_THREAD));
	total = calloc(1, tp_stats_field_size(&field, TP_STATS_TOTAL));
}

static void end(void)
{
	free(record);
	free(counts);
	free(total);
}

static void count(const void *value, size_t size)
{
	memcpy(record, value, size);
	tp_stats_field_count(&field, counts, record, RECORD_SIZE);
}

/* ---- Integers ---- */

#define INTEGER(type, ...)                                                                    \
	do {                                                                                  \
		const type values[] = {__VA_ARGS__};                                          \
		begin(TP_STATS_INTEGER, sizeof(type), (type)-1 < (type)1);                       \
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)               \
			count(&values[i], sizeof(values[i]));                                 \
	} while (0)

/* "sum min max mean: FROM..TO=COUNT ..." */
static char *shown(const struct tp_stats_integers *n)
{
	struct tp_buffer b = {.text = NULL};
	unsigned int nr;
	const uint64_t *buckets = tp_stats_buckets(&field, n, &nr);

	tp_stats_put_sum(&b, n);
	tp_buffer_printf(&b, " ");
	tp_stats_put_integer(&b, &field, n->min);
	tp_buffer_printf(&b, " ");
	tp_stats_put_integer(&b, &field, n->max);
	tp_buffer_printf(&b, " %.6g:", tp_stats_mean(n));
	for (unsigned int place = 0; place < nr; place++) {
		unsigned int i = tp_stats_bucket(nr, place);
		if (!buckets[i])
			continue;
		tp_buffer_printf(&b, " ");
		tp_stats_put_bucket(&b, &field, i, "..");
		tp_buffer_printf(&b, "=%llu", (unsigned long long)buckets[i]);
	}
	return b.text;
}

/* As counted by one thread, and as the total of two, each of which has counted it. */
static void is_shown(const char *text, const char *doubled)
{
	char *one = shown((struct tp_stats_integers *)counts);
	ck_assert_str_eq(one, text);
	tp_stats_field_add(&field, total, counts);
	tp_stats_field_add(&field, total, counts);
	char *two = shown((struct tp_stats_integers *)total);
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
		ck_assert_uint_eq(((struct tp_stats_integers *)counts)->buckets[1 + n], 2);
		end();
	}
}

TEST(nothing_adds_nothing)
{
	INTEGER(int32_t, 5);
	tp_stats_field_add(&field, total, counts);
	memset(counts, 0, tp_stats_field_size(&field, TP_STATS_OF_THREAD));
	tp_stats_field_add(&field, total, counts);
	char *text = shown((struct tp_stats_integers *)total);
	ck_assert_str_eq(text, "5 5 5 5: 4..7=1");
	free(text);
	end();
}

/* ---- Floats ---- */

static struct tp_stats_floats *floats(const double *values, size_t nr)
{
	begin(TP_STATS_FLOAT, sizeof(double), false);
	for (size_t i = 0; i < nr; i++)
		count(&values[i], sizeof(values[i]));
	tp_stats_field_add(&field, total, counts);
	return (struct tp_stats_floats *)total;
}

#define FLOATS(...) floats((const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

TEST(finite_floats)
{
	const struct tp_stats_floats *n = FLOATS(0.0, -0.0, 1.0, 1.5, -1.0, 0.75, DBL_MAX, DBL_MIN, DBL_TRUE_MIN,
					      -DBL_MAX);

	ck_assert_uint_eq(n->count, 10);
	ck_assert_uint_eq(n->nan + n->infinite + n->negative_infinite, 0);
	ck_assert(n->min == -DBL_MAX && n->max == DBL_MAX);
	ck_assert_uint_eq(n->buckets[0], 2);
	ck_assert_uint_eq(n->buckets[1 - TP_STATS_LEAST], 2);                   /* 1 and 1.5 */
	ck_assert_uint_eq(n->buckets[1 - TP_STATS_LEAST - 1], 1);               /* 0.75 */
	ck_assert_uint_eq(n->buckets[1 + TP_STATS_EXPONENTS - TP_STATS_LEAST], 1); /* -1 */
	ck_assert_uint_eq(n->buckets[TP_STATS_EXPONENTS], 1);                   /* the greatest */
	ck_assert_uint_eq(n->buckets[1], 2);                                 /* the smallest */
	ck_assert_uint_eq(n->buckets[2 * TP_STATS_EXPONENTS], 1);
	end();
}

TEST(floats_that_are_no_numbers)
{
	const struct tp_stats_floats *n = FLOATS(NAN, -NAN, INFINITY, -INFINITY, INFINITY, 2.5);

	ck_assert_uint_eq(n->count, 1);
	ck_assert_uint_eq(n->nan, 2);
	ck_assert_uint_eq(n->infinite, 2);
	ck_assert_uint_eq(n->negative_infinite, 1);
	ck_assert(n->sum == 2.5 && n->min == 2.5 && n->max == 2.5);
	end();
}

TEST(single_floats)
{
	float value = -0.375f;

	begin(TP_STATS_FLOAT, sizeof(value), false);
	count(&value, sizeof(value));
	ck_assert(((struct tp_stats_floats *)counts)->sum == -0.375);
	ck_assert_uint_eq(((struct tp_stats_floats *)counts)->buckets[1 + TP_STATS_EXPONENTS - TP_STATS_LEAST - 2], 1);
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

static uint64_t count_of_value(const struct tp_stats_top *top, uint64_t word)
{
	size_t nr;
	uint64_t found = 0;
	struct tp_stats_value *values = tp_stats_values(&field, top, &nr);

	for (size_t i = 0; i < nr; i++) {
		ck_assert(i == 0 || values[i].count <= values[i - 1].count);
		if (values[i].key[0] == word)
			found = values[i].count;
	}
	free(values);
	return found;
}

TEST(tables_overflow_into_other)
{
	const struct tp_stats_top *top;
	const uint32_t room = tp_stats_room[TP_STATS_OF_THREAD] - tp_stats_room[TP_STATS_OF_THREAD] / 4;

	begin(TP_STATS_SYMBOL, sizeof(int32_t), true);
	for (int32_t round = 0; round < 3; round++) {
		for (int32_t i = 0; i < 300; i++) {
			int32_t value = i - 100;
			count(&value, sizeof(value));
		}
	}
	top = (const struct tp_stats_top *)counts;
	ck_assert_uint_eq(top->count, 900);
	ck_assert_uint_eq(top->used, room);
	ck_assert_uint_eq(top->other, (300 - room) * 3);
	tp_stats_field_add(&field, total, counts);
	tp_stats_field_add(&field, total, counts);
	top = (const struct tp_stats_top *)total;
	ck_assert_uint_eq(top->count, 1800);
	ck_assert_uint_eq(top->other, (300 - room) * 6);
	ck_assert_uint_eq(count_of_value(top, (uint64_t)-100), 6);
	ck_assert_uint_eq(count_of_value(top, 0), 6);
	ck_assert_uint_eq(count_of_value(top, 199), 0);
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
		tp_stats_field_count(&field, counts, record, RECORD_SIZE);
	}
	memset(record, 'y', 32); /* no NUL in its 16 bytes */
	tp_stats_field_count(&field, counts, record, RECORD_SIZE);
	tp_stats_field_add(&field, total, counts);
	size_t nr;
	struct tp_stats_value *all = tp_stats_values(&field, (const struct tp_stats_top *)total, &nr);
	ck_assert_uint_eq(nr, 7);
	for (size_t i = 0; i < nr; i++) {
		tp_stats_text_of(text, all[i].key);
		ck_assert_uint_eq(strlen(text), all[i].key[0]);
		ck_assert_uint_eq(all[i].count, all[i].key[0] == 0 || strcmp(text, "a") == 0 ? 2 : 1);
	}
	free(all);
	end();
}

/* Where only the length says that they are not the same, and where nothing does. */
TEST(long_texts)
{
	struct tp_stats_top *top;
	char text[TP_STATS_TEXT_BYTES + 1];

	begin(TP_STATS_TEXT, 200, false);
	for (int length = 60; length < 70; length++) {
		memset(record, 0, 200);
		memset(record, 'z', (size_t)length);
		tp_stats_field_count(&field, counts, record, RECORD_SIZE);
	}
	record[68] = 'q'; /* the last of 69 */
	tp_stats_field_count(&field, counts, record, RECORD_SIZE);
	tp_stats_field_add(&field, total, counts);
	top = (struct tp_stats_top *)total;
	ck_assert_uint_eq(top->used, 10);
	ck_assert_uint_eq(count_of_value(top, 69), 2);
	ck_assert_uint_eq(count_of_value(top, 63), 1);
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

	begin(TP_STATS_TEXT, sizeof(tp_data_loc_t), false);
	field.value = tp_value_at(words[_i].source, 8, sizeof(tp_data_loc_t), false);
	memcpy(record + 8, &words[_i].word, sizeof(words[_i].word));
	memcpy(record + 32, "four", 5);
	tp_stats_field_count(&field, counts, record, RECORD_SIZE);
	tp_stats_field_add(&field, total, counts);
	ck_assert_uint_eq(count_of_value((struct tp_stats_top *)total, words[_i].len), 1);
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
