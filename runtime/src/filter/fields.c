/* SPDX-License-Identifier: MIT */
/*
 * filter/fields.c - see fields.h. The kernel decides by a type's text, and so does this where it makes a difference.
 */
#include <limits.h>
#include <string.h>

#include "base/nearest.h"
#include "filter/fields.h"
#include "filter/operand.h"

#define NAMES_TOLD 64 /* of a long list */

static bool is_name(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && memcmp(name, text, len) == 0;
}

/* ---- Those of every event ---- */

static const struct common {
	const char *name;
	bool told; /* the other names of the same are not told */
	struct tp_filter_field field;
} common[] = {
	{"common_type", true, {.source = TP_SOURCE_NUMBER, .offset = offsetof(struct trace_entry, type), .size = 2}},
	{"common_flags", true, {.source = TP_SOURCE_NUMBER, .offset = offsetof(struct trace_entry, flags), .size = 1}},
	{"common_preempt_count", true,
	 {.source = TP_SOURCE_NUMBER, .offset = offsetof(struct trace_entry, preempt_count), .size = 1}},
	{"common_pid", true,
	 {.source = TP_SOURCE_NUMBER, .offset = offsetof(struct trace_entry, pid), .size = 4, .is_signed = true}},
	{"cpu", true, {.type = TP_TYPE_CPU, .source = TP_SOURCE_CPU, .size = 4, .is_signed = true}},
	{"CPU", false, {.type = TP_TYPE_CPU, .source = TP_SOURCE_CPU, .size = 4, .is_signed = true}},
	{"common_cpu", false, {.type = TP_TYPE_CPU, .source = TP_SOURCE_CPU, .size = 4, .is_signed = true}},
	{"comm", true, {.type = TP_TYPE_TEXT, .source = TP_SOURCE_COMM}},
	{"COMM", false, {.type = TP_TYPE_TEXT, .source = TP_SOURCE_COMM}},
};

#define NR_COMMON (sizeof(common) / sizeof(common[0]))

/* ---- An event's own ---- */

static bool is_text_pointer(const char *type)
{
	return strcmp(type, "char *") == 0 || strcmp(type, "const char *") == 0;
}

/* Other types of its size are another format. */
static bool is_long_double(const struct tp_event_field *f)
{
	return f->type_class == TP_FLOAT && f->size == sizeof(long double) && strcmp(f->type, "long double") == 0;
}

static bool is_float(const struct tp_event_field *f)
{
	return f->type_class == TP_FLOAT && (f->size == sizeof(float) || f->size == sizeof(double) || is_long_double(f));
}

static void describe_number(struct tp_filter_field *field, const struct tp_event_field *f)
{
	const uint32_t size = f->size;
	const bool has_width = size == 1 || size == 2 || size == 4 || size == 8;

	if (f->type_class == TP_FLOAT && !is_float(f))
		field->why_not = "it is neither a float nor a double, nor declared as long double";
	else if (f->type_class == TP_POINTER && is_text_pointer(f->type))
		field->why_not = "it is a pointer to a text that is not in the record; declare it by __string()";
	else if (f->type_class == TP_OTHER || (!has_width && !is_float(f)))
		field->why_not = "it is neither a number of 1, 2, 4 or 8 bytes nor a text";
	if (field->why_not)
		return;
	field->type = is_float(f) ? TP_TYPE_FLOAT : TP_TYPE_NUMBER;
	field->why_not = is_float(f) ? "it is a floating-point number" : NULL;
	field->size = size;
	field->is_signed = f->is_signed;
	field->source = has_width ? TP_SOURCE_NUMBER : TP_SOURCE_ARRAY;
}

static void describe_field(struct tp_filter_field *field, const struct tp_event_field *f)
{
	const bool is_text = f->element_size == 1 && (f->is_char || strstr(f->type, "char"));
	const enum tp_value_source dynamic = f->relative ? TP_SOURCE_REL_LOC : TP_SOURCE_DATA_LOC;

	*field = (struct tp_filter_field){
		.type = TP_TYPE_NONE, .offset = f->offset, .size = f->size, .is_own = true, .described = *f, .source = dynamic,
	};
	if (f->kind == TP_FIELD || f->kind == TP_STRUCT) {
		describe_number(field, f);
	} else if (f->kind == TP_CPUMASK) {
		field->type = TP_TYPE_CPUS;
	} else if (f->kind == TP_STRING || (f->kind == TP_DYNAMIC_ARRAY && is_text)) {
		field->type = TP_TYPE_TEXT;
	} else if (f->kind == TP_ARRAY && is_text) {
		field->type = TP_TYPE_TEXT;
		field->source = TP_SOURCE_ARRAY;
	} else if (f->type_class == TP_FLOAT) {
		field->why_not = "it is an array of floating-point numbers; only a single one can be compared";
	} else {
		field->why_not = "it is neither a number of 1, 2, 4 or 8 bytes nor a text";
	}
}

bool tp_filter_field_find(struct tp_filter_field *field, const struct tp_event *event, const char *name, size_t len)
{
	const struct tp_event_class *class = event->event_class;

	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct tp_event_field f = tp_event_field_at(class, i);
		if (is_name(f.name, name, len)) {
			describe_field(field, &f);
			field->number = i;
			return true;
		}
	}
	for (size_t i = 0; i < NR_COMMON; i++) {
		if (is_name(common[i].name, name, len)) {
			*field = common[i].field;
			return true;
		}
	}
	return false;
}

static void tell_nearest(struct tp_buffer *to, const struct tp_event_class *class, const char *name, size_t len, const char *const *more)
{
	struct tp_nearest nearest = tp_nearest_to(name, len);

	for (uint32_t i = 0; i < class->nr_fields; i++)
		tp_nearest_offer(&nearest, tp_event_field_at(class, i).name);
	for (size_t i = 0; i < NR_COMMON; i++)
		tp_nearest_offer(&nearest, common[i].name);
	while (more && *more)
		tp_nearest_offer(&nearest, *more++);
	tp_buffer_printf(to, "%s", tp_nearest_hint(&nearest, "", " "));
}

void tp_filter_fields_tell(struct tp_buffer *to, const struct tp_event *event, const char *name, size_t len, const char *const *more)
{
	const struct tp_event_class *class = event->event_class;

	tell_nearest(to, class, name, len, more);
	tp_buffer_printf(to, "'%s:%s' has ", event->system, event->name);
	for (uint32_t i = 0; i < class->nr_fields && i < NAMES_TOLD; i++)
		tp_buffer_printf(to, "%s, ", tp_event_field_at(class, i).name);
	if (class->nr_fields > NAMES_TOLD)
		tp_buffer_printf(to, "..., ");
	for (size_t i = 0; i < NR_COMMON; i++) {
		if (common[i].told)
			tp_buffer_printf(to, "%s%s", i ? ", " : "", common[i].name);
	}
	while (more && *more)
		tp_buffer_printf(to, ", %s", *more++);
}

/* ---- Names of values ---- */

/* Whether a field of this width can have the value; the table's are longs, but for what is wider. */
static bool can_have(const struct tp_filter_field *field, uint64_t value)
{
	const uint64_t wide = field->is_signed && value <= ULONG_MAX ? (uint64_t)(long)value : value;

	return tp_number_truncate(wide, field->size, field->is_signed) == wide;
}

static bool value_of(const struct tp_filter_field *field, const char *name, size_t len, uint64_t *value)
{
	struct tp_named_value s = {.nr = 0};

	while (tp_named_value_next(field->described.symbols, &s)) {
		if (is_name(s.name, name, len) && can_have(field, s.value)) {
			*value |= s.value;
			return true;
		}
	}
	return false;
}

bool tp_filter_field_value(const struct tp_filter_field *field, const char *name, size_t len, uint64_t *value)
{
	const char *const end = name + len;

	*value = 0;
	if (field->type != TP_TYPE_NUMBER || !field->described.symbols)
		return false;
	if (value_of(field, name, len, value))
		return true;
	const char *delimiter = field->described.delimiter;
	if (!delimiter || !*delimiter)
		return false;
	for (;;) {
		const char *until = memmem(name, (size_t)(end - name), delimiter, strlen(delimiter));
		if (!value_of(field, name, (size_t)((until ? until : end) - name), value))
			return false;
		if (!until)
			return true;
		name = until + strlen(delimiter);
	}
}

void tp_filter_field_values_tell(struct tp_buffer *to, const struct tp_filter_field *field)
{
	struct tp_named_value s = {.nr = 0};

	while (tp_named_value_next(field->described.symbols, &s)) {
		if (s.nr > NAMES_TOLD) {
			tp_buffer_printf(to, ", ...");
			return;
		}
		tp_buffer_printf(to, "%s\"%s\"", s.nr > 1 ? ", " : "its values have the names ", s.name);
	}
}
