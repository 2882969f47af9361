/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/track_event.c - see track_event.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/trace_seq.h>

#include "base/text.h"
#include "count/names.h"
#include "filter/described.h"
#include "filter/fields.h"
#include "print/description.h"
#include "sinks/perfetto/fields.h"
#include "sinks/perfetto/track_event.h"

/* ---- What an event says of itself ---- */

static void find_role(struct tp_track_role *role, const struct tp_event *event, const char *name, enum tp_filter_type type)
{
	struct tp_filter_field field;

	role->is_there = tp_filter_field_find(&field, event, name, strlen(name)) && field.is_own && field.type == type;
	if (role->is_there)
		role->value = tp_value_at(field.source, field.offset, field.size, field.is_signed);
}

/* The first field whose name begins so. False: there is no memory. */
static bool find_scope(struct tp_track_roles *roles, const struct tp_event *event)
{
	static const char before[] = "scope_";

	for (uint32_t i = 0; i < event->event_class->nr_fields && !roles->scope.is_there; i++) {
		const char *name = tp_event_field_at(event->event_class, i).name;
		if (strncmp(name, before, strlen(before)) != 0)
			continue;
		find_role(&roles->scope, event, name, TP_TYPE_NUMBER);
		if (roles->scope.is_there && !(roles->scope_name = strdup(name + strlen(before))))
			return false;
	}
	return true;
}

static bool find_roles(struct tp_track_roles *roles, const struct tp_event *event)
{
	find_role(&roles->counter, event, "counter_value", TP_TYPE_NUMBER);
	if (!roles->counter.is_there)
		find_role(&roles->type, event, "track_event_type", TP_TYPE_NUMBER);
	if (!roles->counter.is_there && !roles->type.is_there)
		return true;
	find_role(&roles->slice_name, event, "slice_name", TP_TYPE_TEXT);
	find_role(&roles->track_name, event, "track_name", TP_TYPE_TEXT);
	return find_scope(roles, event);
}

/* ---- Names ---- */

/* As TRACEPOINT_LOGLEVEL has them, without "TRACE_". */
static const char *const levels[] = {
	"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug_system", "debug_program", "debug_process", "debug_module",
	"debug_unit", "debug_function", "debug_line", "debug",
};
_Static_assert(sizeof(levels) / sizeof(levels[0]) == TP_LOGLEVEL_DEBUG + 1, "a name for each level");

static uint64_t field_iid(const struct tp_track_plan *plan, uint32_t field)
{
	return plan->iid + 1 + 2 * (uint64_t)field;
}

static void put_interned(struct tp_proto *proto, uint32_t of, uint64_t iid, const char *name)
{
	const size_t begin = tp_proto_begin(proto, of);

	tp_proto_number(proto, TP_INTERNED_IID, iid);
	tp_proto_text(proto, TP_INTERNED_NAME, name, strlen(name));
	tp_proto_end(proto, begin);
}

static void put_source(struct tp_proto *proto, uint64_t iid, const char *file, int line)
{
	const size_t begin = tp_proto_begin(proto, TP_INTERNED_SOURCES);

	tp_proto_number(proto, TP_INTERNED_IID, iid);
	tp_proto_text(proto, TP_SOURCE_FILE, file, strlen(file));
	tp_proto_number(proto, TP_SOURCE_LINE, (uint64_t)line);
	tp_proto_end(proto, begin);
}

/* "method", and "method.name" if the numbers have names. */
static void put_field_name(struct tp_proto *proto, const struct tp_track_plan *plan, uint32_t field, const char *name)
{
	put_interned(proto, TP_INTERNED_ANNOTATIONS, field_iid(plan, field), name);
	if (!plan->fields[field].names)
		return;
	const size_t begin = tp_proto_begin(proto, TP_INTERNED_ANNOTATIONS);
	char full[512];
	snprintf(full, sizeof(full), "%s.name", name);
	tp_proto_number(proto, TP_INTERNED_IID, field_iid(plan, field) + 1);
	tp_proto_text(proto, TP_INTERNED_NAME, full, strlen(full));
	tp_proto_end(proto, begin);
}

/* A byte may become four, "\xff"; what else there is has fewer than 32. */
static size_t names_size(const struct tp_event *event, const char *file)
{
	const size_t each = 32, growth = 4;
	size_t size = 6 * each + growth * (strlen(event->system) + strlen(event->name) + (file ? strlen(file) : 0));

	for (uint32_t i = 0; i < event->event_class->nr_fields; i++)
		size += 2 * (each + growth * strlen(tp_event_field_at(event->event_class, i).name));
	return size;
}

static bool make_names(struct tp_track_plan *plan, const struct tp_event *event, const char *file, int line)
{
	struct tp_proto *proto = &plan->names;

	proto->size = names_size(event, file);
	proto->bytes = tp_malloc(proto->size);
	if (!proto->bytes)
		return false;
	const size_t begin = tp_proto_begin(proto, TP_PACKET_INTERNED_DATA);
	put_interned(proto, TP_INTERNED_CATEGORIES, plan->iid, event->system);
	put_interned(proto, TP_INTERNED_CATEGORIES, TP_LEVEL_IID(plan->level), levels[plan->level]);
	put_interned(proto, TP_INTERNED_NAMES, plan->iid, event->name);
	if (plan->has_source)
		put_source(proto, plan->iid, file, line);
	for (uint32_t i = 0; i < plan->nr_fields; i++)
		put_field_name(proto, plan, i, tp_event_field_at(event->event_class, i).name);
	tp_proto_end(proto, begin);
	return true;
}

/* ---- Plans ---- */

/* The names' own: an element of a list is an annotation. */
#define NUMBER_MAX 24u

static uint32_t growth_of(const struct tp_track_field *field)
{
	if (field->kind == TP_DESCRIBED_TEXT)
		return 4;
	return field->is_list ? NUMBER_MAX / field->described.element_size + 1 : 2;
}

/* Bytes of its annotations without what the record has, at most. */
static size_t size_of(const struct tp_track_field *field)
{
	const size_t size = 2 * NUMBER_MAX;

	if (!field->names)
		return size;
	const char *delimiter = tp_symbols_delimiter(field->names);
	return size + tp_symbols_size(field->names) + (delimiter ? (field->names->nr + 1u) * strlen(delimiter) + NUMBER_MAX : 0);
}

static bool plan_field(struct tp_track_field *field, const struct tp_event_field *described)
{
	*field = (struct tp_track_field){
		.described = *described, .place = tp_described_place(described), .kind = (uint8_t)tp_described_kind(described),
		.is_list = tp_described_is_list(described),
		.element = tp_value_at(TP_SOURCE_NUMBER, 0, described->element_size, described->is_signed),
	};
	field->described.name = field->described.type = field->described.delimiter = NULL;
	field->described.symbols = NULL;
	return !described->symbols || described->kind != TP_FIELD || field->kind != TP_DESCRIBED_INTEGER ||
	       tp_value_names_copy(&field->names, described);
}

static bool plan_fields(struct tp_track_plan *plan, const struct tp_event_class *class)
{
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct tp_event_field described = tp_event_field_at(class, i);
		plan->nr_fields++;
		if (!plan_field(&plan->fields[i], &described))
			return false;
		plan->fixed += size_of(&plan->fields[i]);
		const uint32_t growth = growth_of(&plan->fields[i]);
		plan->growth = growth > plan->growth ? growth : plan->growth;
	}
	return true;
}

static bool plan_make(struct tp_track_plan *plan, const struct tp_event *event, const char *file, int line)
{
	plan->system = strdup(event->system);
	plan->name = strdup(event->name);
	return plan->system && plan->name && plan_fields(plan, event->event_class) && find_roles(&plan->roles, event) &&
	       make_names(plan, event, file, line);
}

struct tp_track_plan *tp_track_plan_new(const struct tp_event *event, const char *file, int line, uint64_t *iid)
{
	const size_t size = sizeof(struct tp_track_plan) + event->event_class->nr_fields * sizeof(struct tp_track_field);
	struct tp_track_plan *plan = tp_malloc(size);

	if (!plan)
		return NULL;
	memset(plan, 0, size);
	plan->iid = *iid;
	plan->level = (unsigned int)event->loglevel > TP_LOGLEVEL_DEBUG ? TP_LOGLEVEL_DEBUG_LINE : event->loglevel;
	plan->has_source = file && *file && line > 0;
	if (!plan_make(plan, event, file, line)) {
		tp_track_plan_free(plan);
		return NULL;
	}
	*iid += 1 + 2 * (uint64_t)plan->nr_fields;
	return plan;
}

void tp_track_plan_free(struct tp_track_plan *plan)
{
	if (!plan)
		return;
	for (uint32_t i = 0; i < plan->nr_fields; i++)
		free(plan->fields[i].names);
	free(plan->names.bytes);
	free(plan->roles.scope_name);
	free(plan->system);
	free(plan->name);
	free(plan);
}

size_t tp_track_event_size(const struct tp_track_plan *plan, size_t record_size)
{
	return 128 + plan->fixed + (size_t)(plan->growth + (plan->roles.slice_name.is_there ? 4 : 0)) * record_size;
}

/* ---- Where a record belongs ---- */

static uint64_t number_of(const struct tp_track_role *role, const void *record)
{
	return tp_value_number_in(&role->value, record);
}

static struct tp_value_bytes text_of(const struct tp_track_role *role, const void *record, size_t size)
{
	return role->is_there ? tp_value_text(&role->value, record, size) : (struct tp_value_bytes){.at = NULL};
}

static uint64_t hash_of(const char *text, uint64_t hash)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return (hash ^ 0xff) * 0x100000001b3u; /* "a", "b" is not "ab" */
}

/* "NAME", or "NAME queue 3" of a scope that is neither a thread nor a process. */
static void name_track(const struct tp_track_plan *plan, const void *record, size_t size, struct tp_track *track)
{
	const struct tp_value_bytes name = text_of(&plan->roles.track_name, record, size);
	struct trace_seq text;

	trace_seq_init(&text, track->name, sizeof(track->name));
	if (name.at)
		trace_seq_putmem(&text, name.at, name.len);
	else
		trace_seq_puts(&text, plan->name);
	if (track->parent == TP_PARENT_NONE)
		trace_seq_printf(&text, " %s %lld", plan->roles.scope_name, (long long)track->key_more);
}

/* A track for each event, each name of a track, and each value of the scope. */
static void find_track(const struct tp_track_plan *plan, const void *record, size_t size, struct tp_track *track)
{
	const struct tp_track_roles *roles = &plan->roles;
	const bool is_process = roles->scope_name && strcmp(roles->scope_name, "tgid") == 0;

	track->parent = !roles->scope_name ? TP_PARENT_THREAD : is_process ? TP_PARENT_PROCESS : TP_PARENT_NONE;
	track->is_counter = roles->counter.is_there;
	track->key_more = roles->scope_name ? number_of(&roles->scope, record) : 0;
	track->pid = is_process ? (int32_t)track->key_more : 0;
	name_track(plan, record, size, track);
	track->key = hash_of(track->name, hash_of(plan->name, hash_of(plan->system, 0xcbf29ce484222325u)));
}

bool tp_track_of_record(const struct tp_track_plan *plan, const void *record, size_t size, struct tp_placed *placed, struct tp_track *track)
{
	const struct tp_track_roles *roles = &plan->roles;

	*placed = (struct tp_placed){.type = TP_TRACK_INSTANT};
	if (!roles->counter.is_there && !roles->type.is_there)
		return false;
	find_track(plan, record, size, track);
	if (roles->counter.is_there) {
		placed->type = TP_TRACK_EVENT_COUNTER;
		placed->counter = number_of(&roles->counter, record);
		return true;
	}
	const uint64_t type = number_of(&roles->type, record);
	placed->type = type == 'B' ? TP_TRACK_BEGIN : type == 'E' ? TP_TRACK_END : TP_TRACK_INSTANT;
	placed->name = text_of(&roles->slice_name, record, size);
	return true;
}

void tp_track_put_descriptor(struct tp_proto *proto, const struct tp_track *track, uint64_t uuid, uint64_t parent)
{
	const size_t descriptor = tp_proto_begin(proto, TP_PACKET_TRACK_DESCRIPTOR);

	tp_proto_number(proto, TP_TRACK_UUID, uuid);
	tp_proto_text(proto, TP_TRACK_NAME, track->name, sizeof(track->name));
	if (parent)
		tp_proto_number(proto, TP_TRACK_PARENT_UUID, parent);
	if (track->is_counter)
		tp_proto_end(proto, tp_proto_begin(proto, TP_TRACK_COUNTER));
	tp_proto_end(proto, descriptor);
}

/* ---- The event ---- */

void tp_track_event_put_head(struct tp_proto *proto, const struct tp_track_plan *plan, const struct tp_placed *placed, uint64_t track)
{
	tp_proto_number(proto, TP_EVENT_TYPE, placed->type);
	if (track)
		tp_proto_number(proto, TP_EVENT_TRACK_UUID, track);
	tp_proto_number(proto, TP_EVENT_CATEGORY_IIDS, plan->iid);
	tp_proto_number(proto, TP_EVENT_CATEGORY_IIDS, TP_LEVEL_IID(plan->level));
	if (placed->type == TP_TRACK_EVENT_COUNTER) {
		tp_proto_number(proto, TP_EVENT_COUNTER_VALUE, placed->counter);
		return;
	}
	if (placed->type == TP_TRACK_END)
		return;
	if (placed->name.at)
		tp_proto_text(proto, TP_EVENT_NAME, placed->name.at, placed->name.len);
	else
		tp_proto_number(proto, TP_EVENT_NAME_IID, plan->iid);
	if (plan->has_source)
		tp_proto_number(proto, TP_EVENT_SOURCE_IID, plan->iid);
}

static void put_number(struct tp_proto *proto, const struct tp_track_field *field, const char *at)
{
	const struct tp_event_field *described = &field->described;

	if (field->kind == TP_DESCRIBED_REAL) {
		tp_proto_real(proto, TP_ANNOTATION_DOUBLE, tp_described_real(described, at));
		return;
	}
	const uint32_t as = field->kind == TP_DESCRIBED_POINTER ? TP_ANNOTATION_POINTER
			    : described->is_signed ? TP_ANNOTATION_INT : TP_ANNOTATION_UINT;
	tp_proto_number(proto, as, tp_value_number_in(&field->element, at));
}

static void put_hexadecimal(struct tp_proto *proto, struct tp_value_bytes bytes)
{
	static const char digits[] = "0123456789abcdef";
	const size_t begin = tp_proto_begin(proto, TP_ANNOTATION_STRING);

	for (size_t i = 0; i < bytes.len && !proto->is_full; i++) {
		const unsigned char byte = (unsigned char)bytes.at[i];
		tp_proto_append(proto, (char[]){digits[byte >> 4], digits[byte & 15]}, 2);
	}
	tp_proto_end(proto, begin);
}

static void put_elements(struct tp_proto *proto, const struct tp_track_field *field, struct tp_value_bytes bytes)
{
	const uint32_t size = field->described.element_size;

	for (size_t i = 0; i + size <= bytes.len && !proto->is_full; i += size) {
		const size_t begin = tp_proto_begin_short(proto, TP_ANNOTATION_ARRAY);
		put_number(proto, field, bytes.at + i);
		tp_proto_end_short(proto, begin);
	}
}

static void put_text(void *proto, const char *text, size_t len)
{
	tp_proto_append(proto, text, len);
}

/* "method.name": "GET", beside "method": 71. What has no name is taken back. */
static void put_value_name(struct tp_proto *proto, const struct tp_track_field *field, uint64_t iid, uint64_t number)
{
	const size_t before = proto->len, begin = tp_proto_begin(proto, TP_EVENT_ANNOTATIONS);

	tp_proto_number(proto, TP_ANNOTATION_NAME_IID, iid);
	const size_t text = tp_proto_begin(proto, TP_ANNOTATION_STRING);
	const bool has_name = tp_value_names_tell(field->names, number, put_text, proto);
	tp_proto_end(proto, text);
	tp_proto_end(proto, begin);
	if (!has_name)
		proto->len = before;
}

static void put_bytes(struct tp_proto *proto, const struct tp_track_field *field, uint64_t iid, struct tp_value_bytes bytes)
{
	const size_t begin = tp_proto_begin(proto, TP_EVENT_ANNOTATIONS);

	tp_proto_number(proto, TP_ANNOTATION_NAME_IID, iid);
	if (field->kind == TP_DESCRIBED_TEXT)
		tp_proto_text(proto, TP_ANNOTATION_STRING, bytes.at, bytes.len);
	else if (field->kind == TP_DESCRIBED_BYTES)
		put_hexadecimal(proto, bytes);
	else
		put_elements(proto, field, bytes);
	tp_proto_end(proto, begin);
}

static void put_field(struct tp_proto *proto, const struct tp_track_field *field, uint64_t iid, const void *record, size_t size)
{
	struct tp_value_bytes bytes = tp_value_payload(&field->place, record, size);

	if (!bytes.at)
		bytes = (struct tp_value_bytes){"", 0};
	if (field->kind == TP_DESCRIBED_TEXT || field->kind == TP_DESCRIBED_BYTES || field->is_list) {
		put_bytes(proto, field, iid, bytes);
		return;
	}
	const size_t begin = tp_proto_begin_short(proto, TP_EVENT_ANNOTATIONS);
	tp_proto_number(proto, TP_ANNOTATION_NAME_IID, iid);
	put_number(proto, field, bytes.at);
	tp_proto_end_short(proto, begin);
	if (field->names)
		put_value_name(proto, field, iid + 1, tp_value_number_in(&field->element, bytes.at));
}

void tp_track_event_put_fields(struct tp_proto *proto, const struct tp_track_plan *plan, const void *record, size_t size)
{
	for (uint32_t i = 0; i < plan->nr_fields && !proto->is_full; i++) {
		const size_t before = proto->len;
		put_field(proto, &plan->fields[i], field_iid(plan, i), record, size);
		if (!proto->is_full)
			continue;
		proto->is_full = false;
		proto->len = before;
	}
}

void tp_track_event_put_count(struct tp_proto *proto, const char *name, uint64_t count)
{
	const size_t annotation = tp_proto_begin(proto, TP_EVENT_ANNOTATIONS);

	tp_proto_text(proto, TP_ANNOTATION_NAME, name, strlen(name));
	tp_proto_number(proto, TP_ANNOTATION_UINT, count);
	tp_proto_end(proto, annotation);
}

void tp_track_event_put_lost(struct tp_proto *proto, uint64_t track, bool is_known, uint64_t lost)
{
	static const char category[] = "tp", name[] = "events lost";
	const size_t begin = tp_proto_begin(proto, TP_PACKET_TRACK_EVENT);

	tp_proto_number(proto, TP_EVENT_TYPE, TP_TRACK_INSTANT);
	if (track)
		tp_proto_number(proto, TP_EVENT_TRACK_UUID, track);
	tp_proto_text(proto, TP_EVENT_CATEGORIES, category, strlen(category));
	tp_proto_text(proto, TP_EVENT_NAME, name, strlen(name));
	if (is_known)
		tp_track_event_put_count(proto, "lost", lost);
	tp_proto_end(proto, begin);
}
