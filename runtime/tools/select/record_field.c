/* SPDX-License-Identifier: MIT */
#include "select/record_field.h"

#include <string.h>

bool record_field_find(struct record_field *found, const struct tp_event *described, const char *name)
{
	struct tp_filter_field *field = &found->field;

	if (!tp_filter_field_find(field, described, name, strlen(name)))
		return false;
	found->value = tp_value_at(field->source, field->offset, field->size, field->is_signed);
	return true;
}

bool record_field_number(const struct record_field *field, const struct event *event, uint64_t *number)
{
	record_here(event);
	if (field->field.type == TP_TYPE_CPU && event->cpu < 0)
		return false;
	if (field->field.type != TP_TYPE_NUMBER && field->field.type != TP_TYPE_CPU)
		return false;
	*number = tp_value_number(&field->value, event->record);
	return true;
}

bool record_field_text(const struct record_field *field, const struct event *event, struct tp_value_bytes *text)
{
	if (field->field.type != TP_TYPE_TEXT)
		return false;
	record_here(event);
	*text = tp_value_text(&field->value, event->record, event->size);
	return text->at != NULL;
}
