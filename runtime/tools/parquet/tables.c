/* SPDX-License-Identifier: MIT */
#include "parquet/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "count/names.h"
#include "parquet/parquet_file.h"
#include "report/counts.h"
#include "report/interrupt.h"
#include "filter/described.h"
#include "select/description.h"
#include "fail_msg.h"

#define HOST_SIZE 256
#define MOST_BYTES ((size_t)64 << 20) /* of rows in memory, of all files */
#define NAME_BYTES 200 /* of a file, whose name has 255 at most; the rest is for endings */

/* What each event has in front of its fields. */
enum { TIME, NS, HOST, PROCESS, PID, TID, COMM, CPU, NR_COMMON };

static const struct {
	const char *name;
	enum column_type type;
	unsigned int bits;
} common[] = {
	[TIME] = {"time", COLUMN_TIME, 64},
	[NS] = {"ns", COLUMN_SIGNED, 64},
	[HOST] = {"host", COLUMN_TEXT, 0},
	[PROCESS] = {"process", COLUMN_TEXT, 0},
	[PID] = {"pid", COLUMN_SIGNED, 32},
	[TID] = {"tid", COLUMN_SIGNED, 32},
	[COMM] = {"comm", COLUMN_TEXT, 0},
	[CPU] = {"cpu", COLUMN_SIGNED, 32},
};

/* A field of an event, and the column that it has; that of its value's name, if there is one, comes next. */
struct part {
	struct tp_event_field field;
	size_t column;
	bool has_name;
};

/* An event of a trace, of which another trace may have the same. */
struct table {
	struct tp_event *described;
	struct part *parts;
	size_t nr_parts;
	struct parquet_file *file;
};

struct tables {
	struct export export;
	char (*hosts)[HOST_SIZE]; /* of each trace */
	struct table **of;        /* of each trace, by id */
	struct parquet_file **files;
	size_t nr_files;
	size_t size;              /* of their rows in memory */
	char *hidden;             /* the directory, until it is complete */
	struct tp_buffer text;
};

/* ---- The columns of an event ---- */

static void set_type(struct column *column, const struct tp_event_field *field)
{
	const enum tp_described_kind kind = tp_described_kind(field);

	column->bits = 8 * field->element_size;
	if (kind == TP_DESCRIBED_TEXT || kind == TP_DESCRIBED_BYTES)
		column->type = COLUMN_TEXT;
	else if (kind == TP_DESCRIBED_REAL)
		column->type = field->element_size == sizeof(float) ? COLUMN_FLOAT : COLUMN_DOUBLE;
	else
		column->type = field->is_signed ? COLUMN_SIGNED : COLUMN_UNSIGNED;
	column->is_list = tp_described_is_list(field);
}

static bool is_taken(const struct column *columns, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(columns[i].name, name) == 0)
			return true;
	}
	return false;
}

/* A name that no column before it has: "pid" becomes "pid_2". False, and a message: there is no memory. */
static bool name_column(struct column *columns, size_t nr, const char *name, const char *behind)
{
	char *text;

	for (unsigned int n = 1;; n++) {
		const int len = n == 1 ? asprintf(&text, "%s%s", name, behind) : asprintf(&text, "%s%s_%u", name, behind, n);
		if (len < 0)
			return fail_no_memory();
		if (!is_taken(columns, nr, text))
			break;
		free(text);
	}
	columns[nr].name = text;
	return true;
}

static bool make_common(struct column *columns)
{
	for (size_t i = 0; i < NR_COMMON; i++) {
		columns[i].type = common[i].type;
		columns[i].bits = common[i].bits;
		if (!name_column(columns, i, common[i].name, ""))
			return false;
	}
	return true;
}

/* Columns for two of each field. */
static bool make_columns(struct table *table, struct column *columns, size_t *nr)
{
	*nr = NR_COMMON;
	if (!make_common(columns))
		return false;
	for (size_t i = 0; i < table->nr_parts; i++) {
		struct part *part = &table->parts[i];
		part->field = tp_event_field_at(table->described->event_class, (uint32_t)i);
		part->column = *nr;
		if (!name_column(columns, *nr, part->field.name, ""))
			return false;
		set_type(&columns[(*nr)++], &part->field);
		part->has_name = part->field.symbols && part->field.kind == TP_FIELD && tp_described_kind(&part->field) == TP_DESCRIBED_INTEGER;
		if (!part->has_name)
			continue;
		if (!name_column(columns, *nr, part->field.name, "_name"))
			return false;
		columns[(*nr)++].type = COLUMN_TEXT;
	}
	return true;
}

/* ---- Files ---- */

static bool is_same(const struct parquet_file *file, const struct column *columns, size_t nr)
{
	for (size_t i = 0; i < nr && nr == file->nr_columns; i++) {
		const struct column *one = &file->columns[i], *other = &columns[i];
		if (strcmp(one->name, other->name) != 0 || one->type != other->type || one->bits != other->bits || one->is_list != other->is_list)
			return false;
	}
	return nr == file->nr_columns;
}

/* C's names may be longer than those of files: what is cut off is told by a number. */
static void put_file_name(struct tp_buffer *path, const struct tp_event *described)
{
	const size_t begin = path->len;

	tp_buffer_put_identifier(path, described->system, strlen(described->system));
	tp_buffer_printf(path, ".");
	tp_buffer_put_identifier(path, described->name, strlen(described->name));
	if (path->failed || path->len - begin <= NAME_BYTES)
		return;
	const uint64_t key = key_of_text(0, path->text + begin, path->len - begin);
	path->len = begin + NAME_BYTES;
	tp_buffer_printf(path, "_%016" PRIx64, key);
}

/* "DIR/net.net_request.parquet"; another layout of the same event is "net.net_request.2.parquet". NULL, and a message. */
static char *path_of(const struct tables *tables, const struct tp_event *described, unsigned int version)
{
	struct tp_buffer path = {.text = NULL};

	tp_buffer_printf(&path, "%s/", tables->hidden);
	put_file_name(&path, described);
	if (version > 1)
		tp_buffer_printf(&path, ".%u", version);
	tp_buffer_printf(&path, ".parquet");
	if (!path.failed)
		return path.text;
	tp_buffer_free(&path);
	fail_no_memory();
	return NULL;
}

static void free_columns(struct column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		column_free(&columns[i]);
	free(columns);
}

static bool add_file(struct tables *tables, struct table *table, char *path, struct column *columns, size_t nr)
{
	struct parquet_file **more = reallocarray(tables->files, tables->nr_files + 1, sizeof(struct parquet_file *));
	struct parquet_file *file = malloc(sizeof(*file));

	if (more)
		tables->files = more;
	if (!more || !file) {
		free(file);
		free(path);
		free_columns(columns, nr);
		return fail_no_memory();
	}
	more[tables->nr_files++] = table->file = file;
	return parquet_open(file, path, columns, nr);
}

/* The file that the event has, maybe of another trace. The columns are taken. */
static bool find_file(struct tables *tables, struct table *table, struct column *columns, size_t nr)
{
	for (unsigned int version = 1;; version++) {
		char *path = path_of(tables, table->described, version);
		struct parquet_file *file = NULL;
		for (size_t i = 0; path && i < tables->nr_files; i++) {
			if (strcmp(tables->files[i]->path, path) == 0)
				file = tables->files[i];
		}
		if (path && !file)
			return add_file(tables, table, path, columns, nr);
		free(path);
		if (!path || is_same(file, columns, nr)) {
			free_columns(columns, nr);
			table->file = file;
			return path != NULL;
		}
	}
}

static bool make_table(struct tables *tables, struct table *table, const struct event_format *format)
{
	table->described = description_new(format);
	if (!table->described)
		return false;
	table->nr_parts = table->described->event_class->nr_fields;
	table->parts = calloc(table->nr_parts + 1, sizeof(*table->parts));
	struct column *columns = calloc(NR_COMMON + 2 * table->nr_parts, sizeof(*columns));
	size_t nr = 0;
	if (!table->parts || !columns) {
		free(columns);
		return fail_no_memory();
	}
	if (make_columns(table, columns, &nr))
		return find_file(tables, table, columns, nr);
	free_columns(columns, nr);
	return false;
}

/* NULL, and a message. */
static struct table *table_of(struct tables *tables, const struct merged *merged)
{
	struct table **table = &tables->of[merged->trace_nr * NR_EVENT_IDS + merged->event.format->id];

	if (*table)
		return (*table)->file ? *table : NULL;
	*table = calloc(1, sizeof(**table));
	if (!*table) {
		fail_no_memory();
		return NULL;
	}
	return make_table(tables, *table, merged->event.format) ? *table : NULL;
}

/* ---- Rows ---- */

static void add_number(struct column *column, const struct tp_event_field *field, const char *at)
{
	if (tp_described_kind(field) == TP_DESCRIBED_REAL)
		column_add_real(column, tp_described_real(field, at));
	else
		column_add_number(column, tp_described_number(field, at));
}

static void add_hexadecimal(struct tables *tables, struct column *column, struct tp_value_bytes bytes)
{
	tables->text.len = 0;
	for (size_t i = 0; i < bytes.len; i++)
		tp_buffer_printf(&tables->text, "%02x", (unsigned char)bytes.at[i]);
	column_add_text(column, tables->text.text ? tables->text.text : "", tables->text.len);
}

static void add_elements(struct column *column, const struct tp_event_field *field, struct tp_value_bytes bytes)
{
	uint32_t nr = 0;

	for (size_t i = 0; i + field->element_size <= bytes.len; i += field->element_size, nr++)
		add_number(column, field, bytes.at + i);
	column_add_list(column, nr);
}

static void add_part(struct tables *tables, struct table *table, const struct part *part, const struct event *event)
{
	struct column *column = &table->file->columns[part->column];
	const struct tp_event_field *field = &part->field;
	const struct tp_value_bytes bytes = tp_described_bytes(field, event->record, event->size);

	if (tp_described_kind(field) == TP_DESCRIBED_TEXT)
		column_add_text(column, bytes.at, bytes.len);
	else if (tp_described_kind(field) == TP_DESCRIBED_BYTES)
		add_hexadecimal(tables, column, bytes);
	else if (column->is_list)
		add_elements(column, field, bytes);
	else
		add_number(column, field, bytes.at);
	if (part->has_name) {
		tables->text.len = 0;
		tp_value_names_put(&tables->text, field->symbols, tp_described_number(field, bytes.at));
		column_add_text(column + 1, tables->text.text ? tables->text.text : "", tables->text.len);
	}
}

static void add_common(const struct tables *tables, struct column *columns, const struct merged *merged)
{
	const struct event *event = &merged->event;

	column_add_number(&columns[TIME], event->time / 1000);
	column_add_number(&columns[NS], event->time);
	column_add_text(&columns[HOST], tables->hosts[merged->trace_nr], HOST_SIZE);
	column_add_text(&columns[PROCESS], merged->trace->metadata.process, COMM_SIZE);
	column_add_number(&columns[PID], (uint64_t)event->pid);
	column_add_number(&columns[TID], (uint64_t)event->tid);
	column_add_text(&columns[COMM], event->name, COMM_SIZE);
	column_add_number(&columns[CPU], (uint64_t)event->cpu);
}

/* Of many events, none may have a whole group before there are too many rows in memory. */
static bool write_largest(struct tables *tables)
{
	struct parquet_file *largest = tables->files[0];

	for (size_t i = 1; i < tables->nr_files; i++) {
		if (tables->files[i]->size > largest->size)
			largest = tables->files[i];
	}
	tables->size -= largest->size;
	return parquet_write_group(largest);
}

static bool end_row(struct tables *tables, struct parquet_file *file)
{
	const size_t before = file->size;

	if (!parquet_row(file))
		return false;
	tables->size += file->size - before;
	return tables->size <= MOST_BYTES || write_largest(tables);
}

static bool add_row(void *data, const struct merged *merged)
{
	struct tables *tables = data;

	if (interrupt_came())
		return false;
	if (!merged->event.format)
		return true;
	struct table *table = table_of(tables, merged);
	if (!table)
		return false;
	add_common(tables, table->file->columns, merged);
	for (size_t i = 0; i < table->nr_parts; i++)
		add_part(tables, table, &table->parts[i], &merged->event);
	if (tables->text.failed)
		return fail_no_memory();
	return end_row(tables, table->file);
}

/* ---- All ---- */

static bool make_directory(struct tables *tables, const char *to)
{
	struct stat status;
	mode_t mask;

	if (lstat(to, &status) == 0)
		return fail_msg("'%s' is there already: give another name, or remove it", to);
	if (asprintf(&tables->hidden, "%s.XXXXXX", to) < 0) {
		tables->hidden = NULL;
		return fail_no_memory();
	}
	if (!mkdtemp(tables->hidden)) {
		const int error = errno;
		free(tables->hidden);
		tables->hidden = NULL;
		return fail_msg("'%s' can't be made: %s", to, strerror(error));
	}
	umask(mask = umask(0));
	chmod(tables->hidden, 0777 & ~mask);
	return true;
}

static bool finish(struct tables *tables, const char *to)
{
	for (size_t i = 0; i < tables->nr_files; i++) {
		if (!parquet_finish(tables->files[i]))
			return false;
	}
	if (interrupt_came())
		return false;
	int error = tp_file_rename_new(AT_FDCWD, tables->hidden, AT_FDCWD, to);
	if (error == EINVAL || error == ENOSYS) /* a file system without this; a directory takes only an empty one's place */
		error = rename(tables->hidden, to) == 0 ? 0 : errno;
	if (error)
		return fail_msg("'%s' can't be made: %s", to, strerror(error));
	free(tables->hidden);
	tables->hidden = NULL;
	return true;
}

static bool prepare(struct tables *tables, const struct export_wanted *wanted)
{
	const struct traces *traces = &tables->export.traces;

	if (!export_open(&tables->export, wanted))
		return false;
	tables->of = calloc(traces->nr * NR_EVENT_IDS + 1, sizeof(struct table *));
	tables->hosts = calloc(traces->nr + 1, sizeof(*tables->hosts));
	if (!tables->of || !tables->hosts)
		return fail_no_memory();
	for (size_t i = 0; i < traces->nr; i++)
		metadata_origin(&traces->traces[i].metadata, "hostname", tables->hosts[i], sizeof(tables->hosts[i]));
	return make_directory(tables, wanted->to);
}

static void release(struct tables *tables)
{
	for (size_t i = 0; i < tables->nr_files; i++) {
		if (tables->hidden)
			unlink(tables->files[i]->path);
		parquet_close(tables->files[i]);
		free(tables->files[i]);
	}
	if (tables->hidden)
		rmdir(tables->hidden);
	for (size_t i = 0; tables->of && i < tables->export.traces.nr * NR_EVENT_IDS; i++) {
		if (!tables->of[i])
			continue;
		description_free(tables->of[i]->described);
		free(tables->of[i]->parts);
		free(tables->of[i]);
	}
	free(tables->of);
	free(tables->files);
	free(tables->hosts);
	free(tables->hidden);
	tp_buffer_free(&tables->text);
	export_close(&tables->export);
}

bool tables_write(const struct export_wanted *wanted)
{
	struct tables tables = {.nr_files = 0};

	interrupt_begin();
	const bool good = prepare(&tables, wanted) && export_each(&tables.export, add_row, &tables) && finish(&tables, wanted->to);
	release(&tables);
	if (good)
		interrupt_forget(); /* for whole tables, it has come too late */
	else
		interrupt_end();
	return good;
}
