/* SPDX-License-Identifier: MIT */
/*
 * column.h - a column of a Parquet file: the values of some rows in memory, and how they are written. No value is missing; that of
 * a list is any number of elements. https://github.com/apache/parquet-format has README.md, Encodings.md and LogicalTypes.md.
 */
#ifndef PARQUET_COLUMN_H
#define PARQUET_COLUMN_H

#include <stdio.h>

#include "parquet/thrift.h"

enum column_type {
	COLUMN_SIGNED,   /* of bits */
	COLUMN_UNSIGNED,
	COLUMN_TIME,     /* ns from the epoch, in UTC */
	COLUMN_FLOAT,
	COLUMN_DOUBLE,
	COLUMN_TEXT,     /* UTF-8 */
};

/* Which of two values is the lesser, as the type has it. */
struct column_value {
	uint64_t number;   /* also a double's bytes */
	struct tp_buffer text;
};

struct column {
	char *name;
	enum column_type type;
	unsigned int bits; /* of an integer */
	bool is_list;

	/* Of the rows that have not been written. */
	struct tp_buffer values;  /* as they stand in a page without dictionary */
	struct tp_buffer lengths; /* of lists: uint32_t each */
	uint64_t nr;              /* values */
	bool has_range;           /* of the values, but those that are no number */
	struct column_value min, max;
};

/* Where the values of a group of rows are, for the file's foot. */
struct column_chunk {
	int64_t begin, data, end; /* in the file; data: behind the dictionary */
	int64_t nr;               /* values; a list without elements counts as one */
	bool has_dictionary;
	bool has_range;
	struct column_value min, max; /* taken from the column */
};

void column_free(struct column *column);
void column_chunk_free(struct column_chunk *chunk);

void column_add_number(struct column *column, uint64_t number);
void column_add_real(struct column *column, double number);

/* Bytes that are no UTF-8 are \xHH. */
void column_add_text(struct column *column, const char *text, size_t len);

/* Of a list: nr elements that have just been added are one value. */
void column_add_list(struct column *column, uint32_t nr);

/* Bytes of memory for values. */
size_t column_size(const struct column *column);

/* Its elements of the schema, of which there are this many. */
size_t column_nr_elements(const struct column *column);
void column_put_schema(struct thrift *thrift, const struct column *column);

/* Writes the values, at *offset, which moves on, and has none any more. False by errno. */
bool column_write(struct column *column, FILE *file, int64_t *offset, struct column_chunk *chunk);

/* Gives back the memory of values that have been written, which others would take the place of. */
void column_give_back(struct column *column);

/* The chunk's description in the foot. */
void column_put_chunk(struct thrift *thrift, const struct column *column, const struct column_chunk *chunk);

#endif /* PARQUET_COLUMN_H */
