/* SPDX-License-Identifier: MIT */
#include "select/described_value.h"

#include <string.h>

#include "read/fields.h"

enum described_kind described_kind(const struct tp_event_field *field)
{
	const uint32_t size = field->element_size;

	if (field->is_char && field->kind != TP_FIELD)
		return DESCRIBED_TEXT;
	if (field->kind == TP_STRUCT || field->type_class == TP_OTHER)
		return DESCRIBED_BYTES;
	if (field->type_class == TP_FLOAT)
		return size == sizeof(float) || size == sizeof(double) ? DESCRIBED_REAL : DESCRIBED_BYTES;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return DESCRIBED_BYTES;
	return field->type_class == TP_POINTER ? DESCRIBED_POINTER : DESCRIBED_INTEGER;
}

bool described_is_list(const struct tp_event_field *field)
{
	const enum described_kind kind = described_kind(field);

	return field->kind != TP_FIELD && kind != DESCRIBED_TEXT && kind != DESCRIBED_BYTES;
}

struct tp_value_bytes described_bytes(const struct tp_event_field *field, const struct event *event)
{
	const enum tp_value_source source = field->kind < TP_STRING ? TP_SOURCE_ARRAY
					    : field->relative ? TP_SOURCE_REL_LOC : TP_SOURCE_DATA_LOC;
	const struct tp_value value = tp_value_at(source, field->offset, field->size, false);
	struct tp_value_bytes bytes = tp_value_payload(&value, event->record, event->size);

	if (!bytes.at)
		bytes = (struct tp_value_bytes){"", 0};
	if (described_kind(field) == DESCRIBED_TEXT)
		bytes.len = strnlen(bytes.at, bytes.len);
	return bytes;
}

uint64_t described_number(const struct tp_event_field *field, const char *at)
{
	const struct tp_value value = tp_value_at(TP_SOURCE_NUMBER, 0, field->element_size, field->is_signed);

	return tp_value_number_in(&value, at);
}

double described_real(const struct tp_event_field *field, const char *at)
{
	return real_number(at, field->element_size);
}
