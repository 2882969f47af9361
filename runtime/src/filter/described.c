/* SPDX-License-Identifier: MIT */
/*
 * filter/described.c - see described.h.
 */
#include <string.h>

#include "filter/described.h"

enum tp_described_kind tp_described_kind(const struct tp_event_field *field)
{
	const uint32_t size = field->element_size;

	if (field->is_char && field->kind != TP_FIELD)
		return TP_DESCRIBED_TEXT;
	if (field->kind == TP_STRUCT || field->type_class == TP_OTHER)
		return TP_DESCRIBED_BYTES;
	if (field->type_class == TP_FLOAT)
		return size == sizeof(float) || size == sizeof(double) ? TP_DESCRIBED_REAL : TP_DESCRIBED_BYTES;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return TP_DESCRIBED_BYTES;
	return field->type_class == TP_POINTER ? TP_DESCRIBED_POINTER : TP_DESCRIBED_INTEGER;
}

bool tp_described_is_list(const struct tp_event_field *field)
{
	const enum tp_described_kind kind = tp_described_kind(field);

	return field->kind != TP_FIELD && kind != TP_DESCRIBED_TEXT && kind != TP_DESCRIBED_BYTES;
}

struct tp_value tp_described_place(const struct tp_event_field *field)
{
	const enum tp_value_source source = field->kind < TP_STRING ? TP_SOURCE_ARRAY
					    : field->relative ? TP_SOURCE_REL_LOC : TP_SOURCE_DATA_LOC;

	return tp_value_at(source, field->offset, field->size, false);
}

struct tp_value_bytes tp_described_bytes(const struct tp_event_field *field, const void *record, size_t size)
{
	const struct tp_value place = tp_described_place(field);
	struct tp_value_bytes bytes = tp_value_payload(&place, record, size);

	if (!bytes.at)
		bytes = (struct tp_value_bytes){"", 0};
	if (tp_described_kind(field) == TP_DESCRIBED_TEXT)
		bytes.len = strnlen(bytes.at, bytes.len);
	return bytes;
}

uint64_t tp_described_number(const struct tp_event_field *field, const char *at)
{
	const struct tp_value value = tp_value_at(TP_SOURCE_NUMBER, 0, field->element_size, field->is_signed);

	return tp_value_number_in(&value, at);
}

double tp_described_real(const struct tp_event_field *field, const char *at)
{
	float f;
	double d;

	if (field->element_size == sizeof(f)) {
		memcpy(&f, at, sizeof(f));
		return (double)f;
	}
	memcpy(&d, at, sizeof(d));
	return d;
}
