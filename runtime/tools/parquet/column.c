/* SPDX-License-Identifier: MIT */
#include "parquet/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/counts.h"

/* parquet.thrift's numbers. */
enum { INT32 = 1, INT64 = 2, FLOAT = 4, DOUBLE = 5, BYTE_ARRAY = 6 };
enum { REQUIRED = 0, REPEATED = 2 };
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };
enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_UNSIGNED = 11, CONVERTED_SIGNED = 15 };
enum { UNCOMPRESSED = 0 };

#define RANGE_TEXT 64 /* bytes of a text in a range; a longer one has none */
#define DICTIONARY_MAX ((size_t)1 << 20)

void column_free(struct column *column)
{
	tp_buffer_free(&column->values);
	tp_buffer_free(&column->lengths);
	tp_buffer_free(&column->min.text);
	tp_buffer_free(&column->max.text);
	free(column->name);
}

void column_chunk_free(struct column_chunk *chunk)
{
	tp_buffer_free(&chunk->min.text);
	tp_buffer_free(&chunk->max.text);
}

size_t column_size(const struct column *column)
{
	return column->values.len + column->lengths.len;
}

/* ---- Values ---- */

static double real_of(uint64_t number)
{
	double real;

	memcpy(&real, &number, sizeof(real));
	return real;
}

static bool is_less(const struct column *column, uint64_t one, uint64_t other)
{
	if (column->type == COLUMN_FLOAT || column->type == COLUMN_DOUBLE)
		return real_of(one) < real_of(other);
	return column->type == COLUMN_UNSIGNED ? one < other : (int64_t)one < (int64_t)other;
}

static void add_to_range(struct column *column, uint64_t number)
{
	if (!column->has_range || is_less(column, number, column->min.number))
		column->min.number = number;
	if (!column->has_range || is_less(column, column->max.number, number))
		column->max.number = number;
	column->has_range = true;
}

static void put_u32(struct tp_buffer *to, uint32_t number)
{
	tp_buffer_put(to, (const char *)&number, sizeof(number));
}

void column_add_number(struct column *column, uint64_t number)
{
	add_to_range(column, number);
	column->nr++;
	if (column->bits <= 32)
		put_u32(&column->values, (uint32_t)number);
	else
		tp_buffer_put(&column->values, (const char *)&number, sizeof(number));
}

void column_add_real(struct column *column, double number)
{
	const float single = (float)number;
	uint64_t bytes;

	memcpy(&bytes, &number, sizeof(bytes));
	if (number <= 0 || number >= 0) /* else it is none */
		add_to_range(column, bytes);
	column->nr++;
	if (column->type == COLUMN_FLOAT)
		tp_buffer_put(&column->values, (const char *)&single, sizeof(single));
	else
		tp_buffer_put(&column->values, (const char *)&number, sizeof(number));
}

static int compare_texts(const struct tp_buffer *one, const char *text, size_t len)
{
	const size_t both = one->len < len ? one->len : len;
	const int order = both ? memcmp(one->text, text, both) : 0;

	return order ? order : one->len < len ? -1 : one->len > len;
}

static void keep_text(struct tp_buffer *kept, const char *text, size_t len)
{
	kept->len = 0;
	tp_buffer_put(kept, text, len);
}

static void add_text_to_range(struct column *column, const char *text, size_t len)
{
	const bool is_first = !column->min.text.text;

	if (is_first || compare_texts(&column->min.text, text, len) > 0)
		keep_text(&column->min.text, text, len);
	if (is_first || compare_texts(&column->max.text, text, len) < 0)
		keep_text(&column->max.text, text, len);
	column->has_range = true;
}

/* The characters, behind where their length is to stand. */
static void put_utf8(struct tp_buffer *to, const char *text, size_t len)
{
	char c[5] = "";

	for (size_t i = 0, taken; i < len; i += taken ? taken : 1) {
		memset(c, 0, sizeof(c));
		memcpy(c, text + i, len - i < 4 ? len - i : 4);
		taken = tp_utf8_char(c);
		if (taken)
			tp_buffer_put(to, text + i, taken);
		else
			tp_buffer_printf(to, "\\x%02x", (unsigned char)text[i]);
	}
}

void column_add_text(struct column *column, const char *text, size_t len)
{
	struct tp_buffer *values = &column->values;
	const size_t begin = values->len;

	put_u32(values, 0);
	put_utf8(values, text, strnlen(text, len));
	column->nr++;
	if (values->failed)
		return;
	const uint32_t is = (uint32_t)(values->len - begin - sizeof(is));
	memcpy(values->text + begin, &is, sizeof(is));
	add_text_to_range(column, values->text + begin + sizeof(is), is);
}

void column_add_list(struct column *column, uint32_t nr)
{
	put_u32(&column->lengths, nr);
}

/* ---- Types ---- */

static int32_t physical_type(const struct column *column)
{
	switch (column->type) {
	case COLUMN_FLOAT:
		return FLOAT;
	case COLUMN_DOUBLE:
		return DOUBLE;
	case COLUMN_TEXT:
		return BYTE_ARRAY;
	default:
		return column->bits <= 32 ? INT32 : INT64;
	}
}

/* 8, 16, 32, 64: 0, 1, 2, 3 */
static int32_t order_of_bits(unsigned int bits)
{
	return bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
}

static void put_logical(struct thrift *thrift, const struct column *column)
{
	thrift_struct(thrift, 10);
	if (column->type == COLUMN_TEXT) {
		thrift_struct(thrift, 1);
		thrift_end(thrift);
	} else if (column->type == COLUMN_TIME) {
		thrift_struct(thrift, 8);
		thrift_bool(thrift, 1, false); /* DuckDB cuts what is said to be UTC down to microseconds */
		thrift_struct(thrift, 2);
		thrift_struct(thrift, 3); /* nanoseconds */
		thrift_end(thrift);
		thrift_end(thrift);
		thrift_end(thrift);
	} else {
		thrift_struct(thrift, 10);
		thrift_byte(thrift, 1, (int8_t)column->bits);
		thrift_bool(thrift, 2, column->type == COLUMN_SIGNED);
		thrift_end(thrift);
	}
	thrift_end(thrift);
}

static void put_element(struct thrift *thrift, const struct column *column, const char *name)
{
	thrift_begin(thrift);
	thrift_i32(thrift, 1, physical_type(column));
	thrift_i32(thrift, 3, REQUIRED);
	thrift_binary(thrift, 4, name, strlen(name));
	if (column->type == COLUMN_TEXT)
		thrift_i32(thrift, 6, CONVERTED_UTF8);
	else if (column->type == COLUMN_SIGNED || column->type == COLUMN_UNSIGNED)
		thrift_i32(thrift, 6, (column->type == COLUMN_SIGNED ? CONVERTED_SIGNED : CONVERTED_UNSIGNED) + order_of_bits(column->bits));
	if (column->type != COLUMN_FLOAT && column->type != COLUMN_DOUBLE)
		put_logical(thrift, column);
	thrift_end(thrift);
}

static void put_group(struct thrift *thrift, const char *name, int32_t repetition, bool is_list)
{
	thrift_begin(thrift);
	thrift_i32(thrift, 3, repetition);
	thrift_binary(thrift, 4, name, strlen(name));
	thrift_i32(thrift, 5, 1);
	if (is_list) {
		thrift_i32(thrift, 6, CONVERTED_LIST);
		thrift_struct(thrift, 10);
		thrift_struct(thrift, 3);
		thrift_end(thrift);
		thrift_end(thrift);
	}
	thrift_end(thrift);
}

size_t column_nr_elements(const struct column *column)
{
	return column->is_list ? 3 : 1;
}

void column_put_schema(struct thrift *thrift, const struct column *column)
{
	if (column->is_list) {
		put_group(thrift, column->name, REQUIRED, true);
		put_group(thrift, "list", REPEATED, false);
	}
	put_element(thrift, column, column->is_list ? "element" : column->name);
}

/* ---- Levels: of an element, whether it is not the first of its list, and of a list, whether it has one ---- */

static void put_varint(struct tp_buffer *to, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		tp_buffer_put(to, &(char){(char)(number | 0x80)}, 1);
	tp_buffer_put(to, &(char){(char)number}, 1);
}

struct runs {
	struct tp_buffer *to;
	uint64_t nr;
	unsigned char level;
};

static void end_run(struct runs *runs)
{
	if (!runs->nr)
		return;
	put_varint(runs->to, runs->nr << 1);
	tp_buffer_put(runs->to, (const char *)&runs->level, 1);
	runs->nr = 0;
}

static void add_levels(struct runs *runs, unsigned char level, uint64_t nr)
{
	if (runs->nr && runs->level != level)
		end_run(runs);
	runs->level = level;
	runs->nr += nr;
}

/* Behind their length. Returns how many there are. */
static uint64_t put_levels(struct tp_buffer *to, const struct column *column, bool is_repetition)
{
	const size_t begin = to->len;
	struct runs runs = {.to = to};
	uint64_t nr = 0;

	put_u32(to, 0);
	for (size_t i = 0; i < column->lengths.len; i += sizeof(uint32_t)) {
		uint32_t length;
		memcpy(&length, column->lengths.text + i, sizeof(length));
		add_levels(&runs, is_repetition ? 0 : length != 0, is_repetition || !length ? 1 : length);
		if (is_repetition && length > 1)
			add_levels(&runs, 1, length - 1);
		nr += length ? length : 1;
	}
	end_run(&runs);
	if (!to->failed) {
		const uint32_t len = (uint32_t)(to->len - begin - sizeof(len));
		memcpy(to->text + begin, &len, sizeof(len));
	}
	return nr;
}

/* ---- A dictionary ---- */

struct entry {
	uint32_t at, len; /* in the column's values, behind the length */
	uint32_t number;  /* from 1 on; 0: there is none here */
};

struct dictionary {
	struct tp_buffer values;
	struct tp_buffer numbers; /* of each value: uint32_t */
	struct entry *entries;
	size_t size;
	uint32_t nr;
};

static struct entry *look(struct dictionary *dictionary, const char *values, uint32_t at, uint32_t len)
{
	for (size_t i = (size_t)(key_of_text(0, values + at, len) >> 20);; i++) {
		struct entry *entry = &dictionary->entries[i & (dictionary->size - 1)];
		if (!entry->number || (entry->len == len && memcmp(values + entry->at, values + at, len) == 0))
			return entry;
	}
}

static void dictionary_free(struct dictionary *dictionary)
{
	tp_buffer_free(&dictionary->values);
	tp_buffer_free(&dictionary->numbers);
	free(dictionary->entries);
}

/* False: the texts are not the same often enough, or there is no memory. */
static bool make_dictionary(struct dictionary *dictionary, const struct column *column)
{
	const size_t most = column->values.len / 2 < DICTIONARY_MAX ? column->values.len / 2 : DICTIONARY_MAX;
	const char *values = column->values.text;
	uint32_t len;

	*dictionary = (struct dictionary){.size = 16};
	while (dictionary->size < 2 * column->nr)
		dictionary->size *= 2;
	dictionary->entries = calloc(dictionary->size, sizeof(*dictionary->entries));
	for (size_t at = 0; dictionary->entries && at < column->values.len; at += len) {
		memcpy(&len, values + at, sizeof(len));
		at += sizeof(len);
		struct entry *entry = look(dictionary, values, (uint32_t)at, len);
		if (!entry->number) {
			*entry = (struct entry){(uint32_t)at, len, ++dictionary->nr};
			tp_buffer_put(&dictionary->values, values + at - sizeof(len), len + sizeof(len));
		}
		put_u32(&dictionary->numbers, entry->number - 1);
		if (dictionary->values.len > most)
			return false;
	}
	return dictionary->entries && dictionary->nr && !dictionary->values.failed && !dictionary->numbers.failed;
}

/* Each in as many bits as the last one needs, in groups of eight. */
static void put_numbers(struct tp_buffer *to, const struct dictionary *dictionary)
{
	const size_t nr = dictionary->numbers.len / sizeof(uint32_t), groups = (nr + 7) / 8;
	unsigned int width = 0, nr_bits = 0;
	uint64_t bits = 0;

	while ((dictionary->nr - 1) >> width)
		width++;
	tp_buffer_put(to, &(char){(char)width}, 1);
	put_varint(to, groups << 1 | 1);
	for (size_t i = 0; i < 8 * groups; i++) {
		uint32_t number = 0;
		if (i < nr)
			memcpy(&number, dictionary->numbers.text + i * sizeof(number), sizeof(number));
		bits |= (uint64_t)number << nr_bits;
		for (nr_bits += width; nr_bits >= 8; nr_bits -= 8, bits >>= 8)
			tp_buffer_put(to, &(char){(char)bits}, 1);
	}
}

/* ---- Pages ---- */

static void put_page_head(struct tp_buffer *to, int32_t type, size_t size, uint64_t nr, int32_t encoding)
{
	struct thrift thrift = {.to = to};

	thrift_begin(&thrift);
	thrift_i32(&thrift, 1, type);
	thrift_i32(&thrift, 2, (int32_t)size);
	thrift_i32(&thrift, 3, (int32_t)size);
	thrift_struct(&thrift, type == DATA_PAGE ? 5 : 7);
	thrift_i32(&thrift, 1, (int32_t)nr);
	thrift_i32(&thrift, 2, encoding);
	if (type == DATA_PAGE) {
		thrift_i32(&thrift, 3, RLE); /* of levels */
		thrift_i32(&thrift, 4, RLE);
	}
	thrift_end(&thrift);
	thrift_end(&thrift);
}

static bool write_page(FILE *file, int64_t *offset, const struct tp_buffer *page, int32_t type, uint64_t nr, int32_t encoding)
{
	struct tp_buffer head = {.text = NULL};

	put_page_head(&head, type, page->len, nr, encoding);
	const bool good = !head.failed && !page->failed && fwrite(head.text, 1, head.len, file) == head.len &&
			  fwrite(page->text, 1, page->len, file) == page->len;
	*offset += (int64_t)(head.len + page->len);
	if (head.failed || page->failed)
		errno = ENOMEM;
	tp_buffer_free(&head);
	return good;
}

static void begin_again(struct column *column)
{
	column->values.len = column->lengths.len = 0;
	column->nr = 0;
	column->has_range = false;
	column->min = column->max = (struct column_value){.number = 0};
}

void column_give_back(struct column *column)
{
	tp_buffer_free(&column->values);
	tp_buffer_free(&column->lengths);
}

bool column_write(struct column *column, FILE *file, int64_t *offset, struct column_chunk *chunk)
{
	struct dictionary dictionary = {.entries = NULL};
	struct tp_buffer page = {.text = NULL};
	bool good = !column->values.failed && !column->lengths.failed;

	*chunk = (struct column_chunk){.begin = *offset, .nr = (int64_t)column->nr, .has_range = column->has_range};
	chunk->has_dictionary = good && column->type == COLUMN_TEXT && make_dictionary(&dictionary, column);
	if (!good)
		errno = ENOMEM;
	if (good && chunk->has_dictionary)
		good = write_page(file, offset, &dictionary.values, DICTIONARY_PAGE, dictionary.nr, PLAIN);
	chunk->data = *offset;
	if (good && column->is_list) {
		put_levels(&page, column, true);
		chunk->nr = (int64_t)put_levels(&page, column, false);
	}
	if (good && chunk->has_dictionary)
		put_numbers(&page, &dictionary);
	else if (good)
		tp_buffer_put(&page, column->values.text ? column->values.text : "", column->values.len);
	good = good && write_page(file, offset, &page, DATA_PAGE, (uint64_t)chunk->nr, chunk->has_dictionary ? RLE_DICTIONARY : PLAIN);
	chunk->end = *offset;
	chunk->min = column->min;
	chunk->max = column->max;
	begin_again(column);
	tp_buffer_free(&page);
	dictionary_free(&dictionary);
	return good;
}

/* ---- The foot ---- */

static void put_bound(struct thrift *thrift, int16_t id, const struct column *column, const struct column_value *value)
{
	const float single = (float)real_of(value->number);

	if (column->type == COLUMN_TEXT)
		thrift_binary(thrift, id, value->text.text, value->text.len);
	else if (column->type == COLUMN_FLOAT)
		thrift_binary(thrift, id, &single, sizeof(single));
	else
		thrift_binary(thrift, id, &value->number, column->type != COLUMN_DOUBLE && column->bits <= 32 ? sizeof(uint32_t) : sizeof(uint64_t));
}

static void put_statistics(struct thrift *thrift, const struct column *column, const struct column_chunk *chunk)
{
	const bool is_short = column->type != COLUMN_TEXT || (chunk->min.text.len <= RANGE_TEXT && chunk->max.text.len <= RANGE_TEXT);

	thrift_struct(thrift, 12);
	if (!column->is_list)
		thrift_i64(thrift, 3, 0); /* nulls */
	if (chunk->has_range && is_short) {
		put_bound(thrift, 5, column, &chunk->max);
		put_bound(thrift, 6, column, &chunk->min);
	}
	thrift_end(thrift);
}

void column_put_chunk(struct thrift *thrift, const struct column *column, const struct column_chunk *chunk)
{
	const int64_t size = chunk->end - chunk->begin;

	thrift_begin(thrift);
	thrift_i64(thrift, 2, chunk->begin);
	thrift_struct(thrift, 3);
	thrift_i32(thrift, 1, physical_type(column));
	thrift_list(thrift, 2, THRIFT_I32, chunk->has_dictionary ? 3 : 2);
	thrift_element_i32(thrift, PLAIN);
	thrift_element_i32(thrift, RLE);
	if (chunk->has_dictionary)
		thrift_element_i32(thrift, RLE_DICTIONARY);
	thrift_list(thrift, 3, THRIFT_BINARY, column_nr_elements(column));
	thrift_element_binary(thrift, column->name, strlen(column->name));
	if (column->is_list) {
		thrift_element_binary(thrift, "list", strlen("list"));
		thrift_element_binary(thrift, "element", strlen("element"));
	}
	thrift_i32(thrift, 4, UNCOMPRESSED);
	thrift_i64(thrift, 5, chunk->nr);
	thrift_i64(thrift, 6, size);
	thrift_i64(thrift, 7, size);
	thrift_i64(thrift, 9, chunk->data);
	if (chunk->has_dictionary)
		thrift_i64(thrift, 11, chunk->begin);
	put_statistics(thrift, column, chunk);
	thrift_end(thrift);
	thrift_end(thrift);
}
