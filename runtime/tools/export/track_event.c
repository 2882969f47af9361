/* SPDX-License-Identifier: MIT */
#include "export/track_event.h"

#include <string.h>

#include "base/text.h"
#include "count/names.h"
#include "select/described_value.h"

enum {
	INTERNED_DATA = 12, EVENT_CATEGORIES = 1, EVENT_NAMES = 2, ANNOTATION_NAMES = 3, IID = 1, NAME = 2,
	DEBUG_ANNOTATIONS = 4, NAME_IID = 1, NAME_TEXT = 10, UINT_VALUE = 3, INT_VALUE = 4, DOUBLE_VALUE = 5, STRING_VALUE = 6,
	POINTER_VALUE = 7, ARRAY_VALUES = 12,
};

/* ---- What an event is ---- */

static bool find_number(struct record_field *field, const struct tp_event *described, const char *name)
{
	return record_field_find(field, described, name) && field->field.type == TP_TYPE_NUMBER;
}

static bool find_text(struct record_field *field, const struct tp_event *described, const char *name)
{
	return record_field_find(field, described, name) && field->field.type == TP_TYPE_TEXT;
}

/* The first field whose name begins so. */
static const char *find_scope(struct record_field *field, const struct tp_event *described)
{
	static const char before[] = "scope_";

	for (uint32_t i = 0; i < described->event_class->nr_fields; i++) {
		const char *name = tp_event_field_at(described->event_class, i).name;
		if (strncmp(name, before, strlen(before)) == 0 && find_number(field, described, name))
			return name + strlen(before);
	}
	return NULL;
}

void track_event_init(struct track_event *track, const struct tp_event *described, uint64_t iid)
{
	struct track_roles *roles = &track->roles;

	*track = (struct track_event){.described = described, .iid = iid};
	roles->is_counter = find_number(&roles->counter, described, "counter_value");
	roles->is_track = !roles->is_counter && find_number(&roles->type, described, "track_event_type");
	if (!roles->is_track && !roles->is_counter)
		return;
	roles->has_slice_name = find_text(&roles->slice_name, described, "slice_name");
	roles->has_track_name = find_text(&roles->track_name, described, "track_name");
	roles->scope_name = find_scope(&roles->scope, described);
}

/* ---- Names ---- */

uint64_t track_event_iids(const struct track_event *track)
{
	return 1 + (uint64_t)track->described->event_class->nr_fields;
}

static void put_name(struct proto *proto, uint32_t of, uint64_t iid, const char *name)
{
	const size_t begin = proto_begin(proto, of);

	proto_number(proto, IID, iid);
	proto_text(proto, NAME, name, strlen(name));
	proto_end(proto, begin);
}

void track_event_put_names(struct proto *proto, const struct track_event *track)
{
	const size_t begin = proto_begin(proto, INTERNED_DATA);
	const struct tp_event *described = track->described;

	put_name(proto, EVENT_CATEGORIES, track->iid, described->system);
	put_name(proto, EVENT_NAMES, track->iid, described->name);
	for (uint32_t i = 0; i < described->event_class->nr_fields; i++)
		put_name(proto, ANNOTATION_NAMES, track->iid + 1 + i, tp_event_field_at(described->event_class, i).name);
	proto_end(proto, begin);
}

/* ---- Values ---- */

static void put_number(struct proto *proto, const struct tp_event_field *field, const char *at)
{
	const enum described_kind kind = described_kind(field);

	if (kind == DESCRIBED_REAL)
		proto_real(proto, DOUBLE_VALUE, described_real(field, at));
	else
		proto_number(proto, kind == DESCRIBED_POINTER ? POINTER_VALUE : field->is_signed ? INT_VALUE : UINT_VALUE, described_number(field, at));
}

static void put_hexadecimal(struct proto *proto, struct tp_value_bytes bytes)
{
	struct tp_buffer text = {.text = NULL};

	for (size_t i = 0; i < bytes.len; i++)
		tp_buffer_printf(&text, "%02x", (unsigned char)bytes.at[i]);
	proto_text(proto, STRING_VALUE, text.failed || !text.text ? "" : text.text, text.len);
	tp_buffer_free(&text);
}

static void put_elements(struct proto *proto, const struct tp_event_field *field, struct tp_value_bytes bytes)
{
	for (size_t i = 0; i + field->element_size <= bytes.len; i += field->element_size) {
		const size_t begin = proto_begin(proto, ARRAY_VALUES);
		put_number(proto, field, bytes.at + i);
		proto_end(proto, begin);
	}
}

static void put_value(struct proto *proto, const struct tp_event_field *field, const struct event *event)
{
	const struct tp_value_bytes bytes = described_bytes(field, event);

	if (described_kind(field) == DESCRIBED_TEXT)
		proto_text(proto, STRING_VALUE, bytes.at, bytes.len);
	else if (described_kind(field) == DESCRIBED_BYTES)
		put_hexadecimal(proto, bytes);
	else if (described_is_list(field))
		put_elements(proto, field, bytes);
	else
		put_number(proto, field, bytes.at);
}

/* "method.name": "GET", beside "method": 71. */
static void put_value_name(struct proto *proto, const struct tp_event_field *field, const struct event *event)
{
	const uint64_t number = described_number(field, described_bytes(field, event).at);
	struct tp_buffer named = {.text = NULL}, name = {.text = NULL};

	tp_buffer_printf(&name, "%s.name", field->name);
	if (tp_value_names_put(&named, field->symbols, number) && !named.failed && !name.failed) {
		const size_t begin = proto_begin(proto, DEBUG_ANNOTATIONS);
		proto_text(proto, NAME_TEXT, name.text, name.len);
		proto_text(proto, STRING_VALUE, named.text, named.len);
		proto_end(proto, begin);
	}
	tp_buffer_free(&named);
	tp_buffer_free(&name);
}

void track_event_put_fields(struct proto *proto, const struct track_event *track, const struct event *event)
{
	const struct tp_event_class *class = track->described->event_class;

	for (uint32_t i = 0; i < class->nr_fields && !proto->is_full; i++) {
		const struct tp_event_field field = tp_event_field_at(class, i);
		const size_t begin = proto_begin(proto, DEBUG_ANNOTATIONS);
		proto_number(proto, NAME_IID, track->iid + 1 + i);
		put_value(proto, &field, event);
		proto_end(proto, begin);
		if (field.symbols && field.kind == TP_FIELD && described_kind(&field) == DESCRIBED_INTEGER)
			put_value_name(proto, &field, event);
	}
}
