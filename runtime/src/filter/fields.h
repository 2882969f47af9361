/* SPDX-License-Identifier: MIT */
/*
 * filter/fields.h - what an expression may name: an event's own fields, and those that every event has.
 */
#ifndef TP_FILTER_FIELDS_H
#define TP_FILTER_FIELDS_H

#include "filter/filter.h"
#include "filter/value.h"

enum tp_filter_type {
	TP_TYPE_NUMBER, /* an integer */
	TP_TYPE_FLOAT,  /* a float, a double or, where that is longer, a long double; why_not says what it is to those who want integers */
	TP_TYPE_TEXT,
	TP_TYPE_CPUS, /* a set of processors */
	TP_TYPE_CPU,  /* the processor's number, which is in no record */
	TP_TYPE_NONE, /* can't be compared, see why_not */
};

struct tp_filter_field {
	enum tp_filter_type type;
	enum tp_value_source source;
	uint32_t offset, size;
	bool is_signed;
	bool is_own;                     /* false: one that every event has; else ... */
	struct tp_event_field described;
	uint32_t number;                 /* ... among the event's own, from 0 */
	const char *why_not;
};

/* False: there is none of this name. */
bool tp_filter_field_find(struct tp_filter_field *field, const struct tp_event *event, const char *name, size_t len);

/*
 * The names that there are, and in front which of them is the nearest to this one, if any is near. more: names that are not the
 * filters', with a NULL at their end; or NULL.
 */
void tp_filter_fields_tell(struct tp_buffer *to, const struct tp_event *event, const char *name, size_t len, const char *const *more);

/* The value of a name, or of several with the field's delimiter in between. False: it has no such names. */
bool tp_filter_field_value(const struct tp_filter_field *field, const char *name, size_t len, uint64_t *value);

/* The names of its values, if it has any. */
void tp_filter_field_values_tell(struct tp_buffer *to, const struct tp_filter_field *field);

#endif /* TP_FILTER_FIELDS_H */
