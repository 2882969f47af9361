/* SPDX-License-Identifier: MIT */
#include "export/json_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/new_file.h"
#include "export/export.h"
#include "read/known_fields.h"
#include "report/values.h"
#include "report/when.h"
#include "fail_msg.h"

#define ORIGIN_SIZE 512 /* of a host's name */

struct json_lines {
	struct export export;
	struct known_fields fields;
	char (*hosts)[ORIGIN_SIZE]; /* of each trace */
	struct tp_buffer line;
	struct when_text when;
	FILE *file;
	const char *path; /* NULL: standard output */
};

/* ---- Values ---- */

static void put_text(struct tp_buffer *line, const char *text)
{
	tp_buffer_put(line, text, strlen(text));
}

/* What takes most of the time: printf() would take twice as much. */
static void put_unsigned(struct tp_buffer *line, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	tp_buffer_put(line, digits + at, sizeof(digits) - at);
}

static void put_signed(struct tp_buffer *line, int64_t number)
{
	if (number < 0)
		tp_buffer_put(line, "-", 1);
	put_unsigned(line, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* JSON has no infinities, and nothing that is not a number. */
static void put_real(struct tp_buffer *line, const struct field *field, const unsigned char *at)
{
	char digits[VALUE_REAL_TEXT];

	value_real_text(field, at, digits);
	put_text(line, isfinite(real_number(at, field->element_size)) ? digits : "null");
}

static void put_value(struct tp_buffer *line, const struct field *field, const unsigned char *at)
{
	if (field->kind == FIELD_REAL)
		put_real(line, field, at);
	else if (field->kind == FIELD_SIGNED)
		put_signed(line, (int64_t)field_number(field, at));
	else if (field->kind == FIELD_POINTER)
		tp_buffer_printf(line, "\"0x%" PRIx64 "\"", field_number(field, at));
	else
		put_unsigned(line, field_number(field, at));
}

static void put_bytes(struct tp_buffer *line, const unsigned char *at, uint32_t size)
{
	static const char digits[] = "0123456789abcdef";

	put_text(line, "\"");
	for (uint32_t i = 0; i < size; i++)
		tp_buffer_put(line, (const char[]){digits[at[i] >> 4], digits[at[i] & 0xf]}, 2);
	put_text(line, "\"");
}

static void put_array(struct tp_buffer *line, const struct field *field, const unsigned char *at, uint32_t size)
{
	if (field->kind == FIELD_TEXT) {
		tp_json_text(line, (const char *)at, size);
		return;
	}
	if (field->kind == FIELD_BYTES) {
		put_bytes(line, at, size);
		return;
	}
	put_text(line, "[");
	for (uint32_t i = 0; i + field->element_size <= size; i += field->element_size) {
		if (i)
			put_text(line, ",");
		put_value(line, field, at + i);
	}
	put_text(line, "]");
}

/* Names of one object differ. */
static void put_name(struct tp_buffer *line, const struct field *field)
{
	tp_json_text(line, field->name, field->name_len);
	if (field->twins && !line->failed) {
		line->len--; /* the quote */
		tp_buffer_printf(line, "_%u\"", field->twins + 1);
	}
	put_text(line, ":");
}

static void put_field(struct tp_buffer *line, const struct field *field, const struct event *event)
{
	put_name(line, field);
	if (field->is_payload) {
		uint32_t size;
		const unsigned char *payload = field_payload(field, event->record, event->size, &size);
		put_array(line, field, payload, size);
	} else if (field->is_array || field->kind == FIELD_BYTES) {
		put_array(line, field, event->record + field->place.offset, field->size);
	} else {
		put_value(line, field, event->record + field->place.offset);
	}
}

/* ---- Lines ---- */

/* {"time":"2026-11-27T10:30:00.123456789Z","ns":1795775400123456789,"host":"vm","process":"server","pid":1,"tid":2,"comm":"server","cpu":3 */
static void put_head(struct json_lines *lines, const struct merged *merged)
{
	const struct event *event = &merged->event;
	struct tp_buffer *line = &lines->line;
	const size_t len = when_show(&lines->when, WHEN_UTC, event->time);

	put_text(line, "{\"time\":\"");
	tp_buffer_put(line, lines->when.text, len);
	if (!line->failed)
		line->text[line->len - len + strlen("YYYY-MM-DD")] = 'T';
	put_text(line, "Z\",\"ns\":");
	put_unsigned(line, event->time);
	if (*lines->hosts[merged->trace_nr]) {
		put_text(line, ",\"host\":");
		tp_json_string(line, lines->hosts[merged->trace_nr]);
	}
	put_text(line, ",\"process\":");
	tp_json_text(line, merged->trace->metadata.process, COMM_SIZE);
	put_text(line, ",\"pid\":");
	put_signed(line, event->pid);
	put_text(line, ",\"tid\":");
	put_signed(line, event->tid);
	put_text(line, ",\"comm\":");
	tp_json_text(line, event->name, COMM_SIZE);
	if (event->cpu >= 0) {
		put_text(line, ",\"cpu\":");
		put_signed(line, event->cpu);
	}
}

static void put_lost(struct json_lines *lines, const struct merged *merged)
{
	put_head(lines, merged);
	put_text(&lines->line, ",\"lost\":");
	if (merged->lost == TRACE_LOST_UNKNOWN)
		put_text(&lines->line, "null");
	else
		put_unsigned(&lines->line, merged->lost);
	put_text(&lines->line, "}\n");
}

static void put_event(struct json_lines *lines, const struct merged *merged, const struct fields *fields)
{
	const struct event_format *format = merged->event.format;
	struct tp_buffer *line = &lines->line;
	size_t len;
	const char *name = format_event_name(format, &len);

	put_head(lines, merged);
	put_text(line, ",\"system\":");
	tp_json_string(line, format->system);
	put_text(line, ",\"event\":");
	tp_json_text(line, name, len);
	put_text(line, ",\"fields\":{");
	for (size_t i = 0; i < fields->nr; i++) {
		if (i)
			put_text(line, ",");
		put_field(line, &fields->fields[i], &merged->event);
	}
	put_text(line, "}}\n");
}

static bool cant_write(const struct json_lines *lines)
{
	return lines->path ? fail_msg("'%s' can't be written: %s", lines->path, strerror(errno))
			   : fail_msg("the output can't be written: %s", strerror(errno));
}

static bool write_event(void *data, const struct merged *merged)
{
	struct json_lines *lines = data;

	lines->line.len = 0;
	if (merged->lost)
		put_lost(lines, merged);
	if (merged->event.format) {
		const struct fields *fields = known_fields_of(&lines->fields, merged->trace_nr, merged->event.format);
		if (!fields)
			return false;
		put_event(lines, merged, fields);
	}
	if (lines->line.failed)
		return fail_no_memory();
	return fwrite(lines->line.text, 1, lines->line.len, lines->file) == lines->line.len || cant_write(lines);
}

/* ---- All ---- */

static bool begin(struct json_lines *lines)
{
	const struct traces *traces = &lines->export.traces;

	lines->hosts = calloc(traces->nr + 1, sizeof(*lines->hosts));
	if (!lines->hosts)
		return fail_no_memory();
	for (size_t i = 0; i < traces->nr; i++)
		metadata_origin(&traces->traces[i].metadata, "hostname", lines->hosts[i], sizeof(lines->hosts[i]));
	return known_fields_init(&lines->fields, traces->nr);
}

static bool write_file(struct json_lines *lines, const char *to)
{
	struct new_file new = {.path = to};

	bool good = new_file_open(&new, to, 0666, true);
	if (good) {
		lines->file = new.file;
		lines->path = to;
		good = export_each(&lines->export, write_event, lines) && new_file_finish(&new);
	}
	new_file_close(&new);
	return good;
}

static bool write_output(struct json_lines *lines)
{
	lines->file = stdout;
	return export_each(&lines->export, write_event, lines) && (fflush(stdout) == 0 || cant_write(lines));
}

bool json_lines_write(const struct export_wanted *wanted)
{
	struct json_lines lines = {.path = NULL};
	const bool good = export_open(&lines.export, wanted) && begin(&lines) &&
			  (strcmp(wanted->to, "-") == 0 ? write_output(&lines) : write_file(&lines, wanted->to));

	tp_buffer_free(&lines.line);
	known_fields_free(&lines.fields);
	free(lines.hosts);
	export_close(&lines.export);
	return good;
}
