/* SPDX-License-Identifier: MIT */
#include "report/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void value_real_text(const struct field *field, const unsigned char *at, char text[VALUE_REAL_TEXT])
{
	const double d = real_number(at, field->element_size);

	for (int precision = 6; precision <= 17; precision++) {
		snprintf(text, VALUE_REAL_TEXT, "%.*g", precision, d);
		const double back = strtod(text, NULL);
		if (field->element_size == sizeof(float) ? (double)(float)back >= d && (double)(float)back <= d : back >= d && back <= d)
			break;
	}
}

static void add_real(struct line *line, const struct field *field, const unsigned char *at)
{
	char digits[VALUE_REAL_TEXT];

	value_real_text(field, at, digits);
	line_add(line, digits, strlen(digits));
}

static void add_value(struct line *line, const struct field *field, const unsigned char *at)
{
	if (field->kind == FIELD_REAL)
		add_real(line, field, at);
	else if (field->kind == FIELD_SIGNED)
		line_printf(line, "%" PRId64, (int64_t)field_number(field, at));
	else if (field->kind == FIELD_POINTER)
		line_printf(line, "0x%" PRIx64, field_number(field, at));
	else
		line_printf(line, "%" PRIu64, field_number(field, at));
}

static void add_array(struct line *line, const struct field *field, const unsigned char *at, uint32_t size)
{
	if (field->kind == FIELD_TEXT) {
		line_add_quoted(line, (const char *)at, strnlen((const char *)at, size));
		return;
	}
	line_add(line, "{", 1);
	for (uint32_t i = 0; i + field->element_size <= size && !line->is_full; i += field->element_size) {
		if (i)
			line_add(line, ",", 1);
		if (field->kind == FIELD_BYTES)
			line_printf(line, "%02x", at[i]);
		else
			add_value(line, field, at + i);
	}
	line_add(line, "}", 1);
}

static void add_payload(struct line *line, const struct field *field, const unsigned char *record, uint32_t record_size)
{
	uint32_t size;
	const unsigned char *payload = field_payload(field, record, record_size, &size);

	add_array(line, field, payload, size);
}

void values_add(struct line *line, const struct fields *fields, const unsigned char *record, uint32_t size)
{
	for (size_t i = 0; i < fields->nr && !line->is_full; i++) {
		const struct field *field = &fields->fields[i];
		if (i)
			line_add(line, " ", 1);
		line_add(line, field->name, field->name_len);
		line_add(line, "=", 1);
		if (field->is_payload)
			add_payload(line, field, record, size);
		else if (field->is_array)
			add_array(line, field, record + field->place.offset, field->size);
		else
			add_value(line, field, record + field->place.offset);
	}
}
