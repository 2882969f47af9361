/* SPDX-License-Identifier: MIT */
/*
 * sinks/latency/event.c - where in an event's record its key and its group are.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit.h"
#include "events/events.h"
#include "count/names.h"
#include "filter/fields.h"
#include "sinks/latency/latency.h"

/* ---- Values of a record ---- */

void tp_latency_key(struct tp_count_key *key, const struct tp_latency_part *parts, uint32_t nr, const struct tp_record *rec)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (!parts[i].is_text) {
			key->words[key->nr++] = tp_value_number(&parts[i].value, rec->entry);
			continue;
		}
		const struct tp_value_bytes text = tp_value_text(&parts[i].value, rec->entry, rec->size);
		tp_count_key_add(key, text.at, text.len);
	}
}

/* ---- Fields ---- */

/* False, and why has it. */
static bool find_part(struct tp_latency_part *part, const struct tp_event *event, const char *name, struct tp_buffer *why)
{
	struct tp_filter_field field;

	if (!tp_filter_field_find(&field, event, name, strlen(name))) {
		tp_buffer_printf(why, "event '%s:%s' has no field '%s': ", event->system, event->name, name);
		tp_filter_fields_tell(why, event, name, strlen(name), NULL);
		return false;
	}
	if (field.type != TP_TYPE_NUMBER && field.type != TP_TYPE_TEXT && field.type != TP_TYPE_CPU) {
		tp_buffer_printf(why, "field '%s' of event '%s:%s' is neither an integer nor a text", name, event->system, event->name);
		return false;
	}
	*part = (struct tp_latency_part){
		.is_text = field.type == TP_TYPE_TEXT, .value = tp_value_at(field.source, field.offset, field.size, field.is_signed),
	};
	return !field.is_own || tp_value_names_copy(&part->names, &field.described);
}

static bool find_parts(struct tp_latency_part *parts, const struct tp_event *event, char *const *names, uint32_t nr, struct tp_buffer *why)
{
	for (uint32_t i = 0; i < nr; i++) {
		if (!find_part(&parts[i], event, names[i], why))
			return false;
	}
	return true;
}

/* Texts are never the same as numbers. */
static bool same_kinds(const struct tp_latency *latency, const struct tp_latency_event *event, enum tp_latency_role role,
		       struct tp_buffer *why)
{
	for (const struct tp_latency_event *other = latency->all_events; other; other = other->next) {
		const enum tp_latency_role others = other->has_role[TP_LATENCY_BEGIN] ? TP_LATENCY_BEGIN : TP_LATENCY_END;
		for (uint32_t i = 0; i < latency->options.nr_fields; i++) {
			if (event->key[role][i].is_text == other->key[others][i].is_text)
				continue;
			tp_buffer_printf(why, "field '%s' of event '%s' is a %s, unlike that of '%s'",
					 latency->options.fields[role][i], event->name,
					 event->key[role][i].is_text ? "text" : "number", other->name);
			return false;
		}
	}
	return true;
}

static void find_role(struct tp_latency *latency, struct tp_latency_event *made, const struct tp_event *event, enum tp_latency_role role)
{
	const struct tp_latency_options *options = &latency->options;
	struct tp_buffer why = {.text = NULL};

	if (!tp_pattern_matches(options->events[role], made->name))
		return;
	made->has_role[role] = find_parts(made->key[role], event, options->fields[role], options->nr_fields, &why) &&
			       same_kinds(latency, made, role, &why);
	if (made->has_role[role] || latency->misfit[role].len)
		tp_buffer_free(&why);
	else
		latency->misfit[role] = why;
}

static void find_by(struct tp_latency *latency, struct tp_latency_event *made, const struct tp_event *event)
{
	struct tp_buffer why = {.text = NULL};
	bool fits = latency->options.nr_by && find_parts(made->by, event, latency->options.by, latency->options.nr_by, &why);

	tp_buffer_free(&why);
	for (uint32_t i = 0; fits && i < latency->options.nr_by; i++) {
		if (!latency->has_by_kinds)
			latency->by_is_text[i] = made->by[i].is_text;
		fits = made->by[i].is_text == latency->by_is_text[i];
	}
	latency->has_by_kinds |= fits;
	made->has_by = fits;
}

bool tp_latency_has(const struct tp_latency *latency, enum tp_latency_role role, bool with_by)
{
	for (const struct tp_latency_event *event = latency->all_events; event; event = event->next) {
		if (event->has_role[role] && (event->has_by || !with_by))
			return true;
	}
	return false;
}

int tp_latency_describe(struct tp_latency *latency, const struct tp_event *event)
{
	const size_t len = strlen(event->system) + 1 + strlen(event->name) + 1;
	struct tp_latency_event *made = tp_malloc(sizeof(*made) + len);

	if (!made)
		return -ENOMEM;
	*made = (struct tp_latency_event){.id = event->id, .event = tp_is_of_main_program(event) ? event : NULL};
	snprintf(made->name, len, "%s:%s", event->system, event->name);
	for (enum tp_latency_role role = 0; role < TP_LATENCY_NR_ROLES; role++)
		find_role(latency, made, event, role);
	const bool fits = made->has_role[TP_LATENCY_BEGIN] || made->has_role[TP_LATENCY_END];
	if (fits)
		find_by(latency, made, event);
	made->next = latency->all_events;
	latency->all_events = made;
	if (!fits)
		return TP_NOT_FOR_SINK; /* its names are freed with the others */
	/* The groups are those of the ends' fields, if an end has them. */
	const bool of_begin = !tp_latency_has(latency, TP_LATENCY_END, true) && tp_latency_has(latency, TP_LATENCY_BEGIN, true);
	__atomic_store_n(&latency->by_of_begin, of_begin, __ATOMIC_RELAXED);
	__atomic_store_n(&latency->events[event->id], made, __ATOMIC_RELEASE);
	return 0;
}

static void free_names(struct tp_latency_part *parts)
{
	for (uint32_t i = 0; i < TP_LATENCY_FIELDS; i++)
		free(parts[i].names);
}

void tp_latency_events_free(struct tp_latency *latency)
{
	while (latency->all_events) {
		struct tp_latency_event *event = latency->all_events;
		latency->all_events = event->next;
		for (enum tp_latency_role role = 0; role < TP_LATENCY_NR_ROLES; role++)
			free_names(event->key[role]);
		free_names(event->by);
		free(event);
	}
}
