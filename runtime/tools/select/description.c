/* SPDX-License-Identifier: MIT */
#include "select/description.h"

#include <stdlib.h>
#include <string.h>

#include "print/description.h"
#include "printk/printk.h"
#include "read/fields.h"
#include "fail_msg.h"

static bool is_type(const struct field *field, const char *name)
{
	return field->type_len == strlen(name) && memcmp(field->type, name, field->type_len) == 0;
}

static enum tp_field_kind kind_of(const struct field *field)
{
	if (field->is_payload)
		return is_type(field, "cpumask_t") ? TP_CPUMASK : field->kind == FIELD_TEXT ? TP_STRING : TP_DYNAMIC_ARRAY;
	if (!field->is_array)
		return TP_FIELD;
	return field->kind == FIELD_BYTES && field->size != field->element_size ? TP_STRUCT : TP_ARRAY;
}

static enum tp_field_class class_of(const struct field *field)
{
	switch (field->kind) {
	case FIELD_REAL:
		return TP_FLOAT;
	case FIELD_POINTER:
		return TP_POINTER;
	case FIELD_BYTES:
		return TP_OTHER;
	default:
		return TP_INTEGER;
	}
}

/* With texts for free(). False: there is no memory. */
static bool describe(struct tp_event_field *described, const struct field *field, struct printk *printk)
{
	*described = (struct tp_event_field){
		.name = strndup(field->name, field->name_len), .type = strndup(field->type, field->type_len),
		.kind = kind_of(field), .relative = field->place.relative, .type_class = class_of(field),
		.offset = field->place.offset, .size = field->size, .element_size = field->element_size,
		.element_align = field->is_payload ? 1 : field->element_size, /* or less: the offset says it */
		.is_signed = field->kind == FIELD_SIGNED, .is_char = field->kind == FIELD_TEXT,
		.symbols = printk && !field->is_array ? printk_symbols(printk, field->name, field->name_len) : NULL,
	};
	return described->name && described->type;
}

static void free_fields(struct tp_event_field *fields, size_t nr)
{
	for (size_t i = 0; fields && i < nr; i++) {
		free((char *)fields[i].name);
		free((char *)fields[i].type);
		free((struct tp_symbols *)fields[i].symbols);
	}
	free(fields);
}

static struct tp_event_class *make_class(const struct fields *fields, const struct event_format *format)
{
	struct tp_event_field *described = calloc(fields->nr + 1, sizeof(*described));
	struct printk *printk = printk_new(format); /* without it, values have no names */
	struct tp_event_class *class = NULL;
	bool good = described != NULL;

	for (size_t i = 0; i < fields->nr && good; i++)
		good = describe(&described[i], &fields->fields[i], printk);
	if (good && fields->nr <= UINT16_MAX)
		class = tp_class_new(&(struct tp_class_parts){
			.fields = described, .nr_fields = (uint32_t)fields->nr, .fixed_size = format->fixed, .print_fmt = "",
		});
	free_fields(described, fields->nr);
	printk_free(printk);
	return class;
}

struct tp_event *description_new(const struct event_format *format)
{
	struct tp_event *event = calloc(1, sizeof(*event));
	struct fields fields = {.fields = NULL};
	size_t len;
	const char *name = format_event_name(format, &len);
	const bool good = event && fields_of(&fields, format);

	if (good && fields.nr > FIELDS_COMPARED) {
		fail_msg("'format/%s': the event '%.*s' has %zu fields, and can have %d here", format->system, (int)len, name, fields.nr, FIELDS_COMPARED);
		free(fields.fields);
		description_free(event);
		return NULL;
	}
	if (good) {
		event->system = strdup(format->system);
		event->name = strndup(name, len);
		event->event_class = make_class(&fields, format);
		event->id = (uint16_t)format->id;
	}
	free(fields.fields);
	if (event && event->system && event->name && event->event_class)
		return event;
	description_free(event);
	fail_no_memory();
	return NULL;
}

void description_free(struct tp_event *event)
{
	if (!event)
		return;
	free((char *)event->system);
	free((char *)event->name);
	free((struct tp_event_class *)event->event_class);
	free(event);
}
