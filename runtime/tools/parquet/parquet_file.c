/* SPDX-License-Identifier: MIT */
#include "parquet/parquet_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tracepoint.h>

#include "fail_msg.h"

/* Readers work on a group at a time, each in a thread of its own. */
#define GROUP_ROWS 122880u
#define GROUP_BYTES ((size_t)16 << 20)
#define LOOK_ROWS 256u /* between two looks at the memory */

static const char magic[] = {'P', 'A', 'R', '1'};

struct row_group {
	struct column_chunk *chunks;
	uint64_t nr_rows;
};

static bool cant_write(const struct parquet_file *file)
{
	return fail_msg("'%s' can't be written: %s", file->path, strerror(errno));
}

static bool put(struct parquet_file *file, const void *bytes, size_t len)
{
	file->offset += (int64_t)len;
	return fwrite(bytes, 1, len, file->file) == len || cant_write(file);
}

bool parquet_open(struct parquet_file *file, char *path, struct column *columns, size_t nr_columns)
{
	*file = (struct parquet_file){.path = path, .columns = columns, .nr_columns = nr_columns};
	file->file = fopen(path, "wxe");
	if (!file->file)
		return fail_msg("'%s' can't be made: %s", path, strerror(errno));
	return put(file, magic, sizeof(magic));
}

void parquet_close(struct parquet_file *file)
{
	if (file->file)
		fclose(file->file);
	for (size_t i = 0; i < file->nr_columns; i++)
		column_free(&file->columns[i]);
	for (size_t g = 0; g < file->nr_groups; g++) {
		for (size_t i = 0; i < file->nr_columns; i++)
			column_chunk_free(&file->groups[g].chunks[i]);
		free(file->groups[g].chunks);
	}
	free(file->columns);
	free(file->groups);
	free(file->path);
}

static bool write_group(struct parquet_file *file)
{
	struct row_group *more = reallocarray(file->groups, file->nr_groups + 1, sizeof(*more));
	struct column_chunk *chunks = calloc(file->nr_columns, sizeof(*chunks));

	if (more)
		file->groups = more;
	if (!more || !chunks) {
		free(chunks);
		return fail_no_memory();
	}
	more[file->nr_groups++] = (struct row_group){.chunks = chunks, .nr_rows = file->rows_here};
	for (size_t i = 0; i < file->nr_columns; i++) {
		if (!column_write(&file->columns[i], file->file, &file->offset, &chunks[i]))
			return cant_write(file);
	}
	file->nr_rows += file->rows_here;
	file->rows_here = 0;
	file->size = 0;
	return true;
}

bool parquet_row(struct parquet_file *file)
{
	if (++file->rows_here % LOOK_ROWS)
		return true;
	file->size = 0;
	for (size_t i = 0; i < file->nr_columns; i++)
		file->size += column_size(&file->columns[i]);
	return (file->rows_here < GROUP_ROWS && file->size < GROUP_BYTES) || write_group(file);
}

bool parquet_flush(struct parquet_file *file)
{
	if (file->rows_here && !write_group(file))
		return false;
	for (size_t i = 0; i < file->nr_columns; i++)
		column_give_back(&file->columns[i]);
	return true;
}

/* ---- The foot ---- */

static void put_schema(struct thrift *thrift, const struct parquet_file *file)
{
	static const char root[] = "schema";
	size_t nr = 1;

	for (size_t i = 0; i < file->nr_columns; i++)
		nr += column_nr_elements(&file->columns[i]);
	thrift_list(thrift, 2, THRIFT_STRUCT, nr);
	thrift_begin(thrift);
	thrift_binary(thrift, 4, root, strlen(root));
	thrift_i32(thrift, 5, (int32_t)file->nr_columns);
	thrift_end(thrift);
	for (size_t i = 0; i < file->nr_columns; i++)
		column_put_schema(thrift, &file->columns[i]);
}

static void put_group(struct thrift *thrift, const struct parquet_file *file, const struct row_group *group)
{
	int64_t size = 0;

	thrift_begin(thrift);
	thrift_list(thrift, 1, THRIFT_STRUCT, file->nr_columns);
	for (size_t i = 0; i < file->nr_columns; i++) {
		column_put_chunk(thrift, &file->columns[i], &group->chunks[i]);
		size += group->chunks[i].end - group->chunks[i].begin;
	}
	thrift_i64(thrift, 2, size);
	thrift_i64(thrift, 3, (int64_t)group->nr_rows);
	thrift_end(thrift);
}

/* Ranges are by the order that the type defines. */
static void put_orders(struct thrift *thrift, const struct parquet_file *file)
{
	thrift_list(thrift, 7, THRIFT_STRUCT, file->nr_columns);
	for (size_t i = 0; i < file->nr_columns; i++) {
		thrift_begin(thrift);
		thrift_struct(thrift, 1);
		thrift_end(thrift);
		thrift_end(thrift);
	}
}

static void put_foot(struct tp_buffer *to, const struct parquet_file *file)
{
	static const char creator[] = "tpgen " TP_VERSION;
	struct thrift thrift = {.to = to};

	thrift_begin(&thrift);
	thrift_i32(&thrift, 1, 2);
	put_schema(&thrift, file);
	thrift_i64(&thrift, 3, (int64_t)file->nr_rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, file->nr_groups);
	for (size_t i = 0; i < file->nr_groups; i++)
		put_group(&thrift, file, &file->groups[i]);
	thrift_binary(&thrift, 6, creator, strlen(creator));
	put_orders(&thrift, file);
	thrift_end(&thrift);
}

bool parquet_finish(struct parquet_file *file)
{
	struct tp_buffer foot = {.text = NULL};

	if (!parquet_flush(file))
		return false;
	put_foot(&foot, file);
	const uint32_t len = (uint32_t)foot.len;
	const bool good = foot.failed ? fail_no_memory()
				      : put(file, foot.text, foot.len) && put(file, &len, sizeof(len)) && put(file, magic, sizeof(magic));
	tp_buffer_free(&foot);
	if (!good)
		return false;
	const bool is_written = fclose(file->file) == 0;
	file->file = NULL;
	return is_written || cant_write(file);
}
