/* SPDX-License-Identifier: MIT */
/* parquet_file.h - a Parquet file: groups of rows, each of which has a chunk of each column, and a foot that says where these are. */
#ifndef PARQUET_FILE_H
#define PARQUET_FILE_H

#include "parquet/column.h"

struct row_group;

struct parquet_file {
	char *path;
	FILE *file;
	int64_t offset;
	struct column *columns;
	size_t nr_columns;
	uint64_t nr_rows, rows_here; /* those that are written; those that are not */
	size_t size;                 /* bytes of memory of the latter, as some rows before */
	struct row_group *groups;
	size_t nr_groups;
};

/* The path and the columns are the file's from here on. False, and a message. To be closed in any case, if it has a path. */
bool parquet_open(struct parquet_file *file, char *path, struct column *columns, size_t nr_columns);

/* Each column has got one value more. Writes a group if there are enough. */
bool parquet_row(struct parquet_file *file);

/* Writes the rows that are in memory as a group, and gives that memory back. */
bool parquet_flush(struct parquet_file *file);

/* Writes what is left, and the foot. */
bool parquet_finish(struct parquet_file *file);
void parquet_close(struct parquet_file *file);

#endif /* PARQUET_FILE_H */
