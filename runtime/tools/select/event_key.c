/* SPDX-License-Identifier: MIT */
#include "select/event_key.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fail_msg.h"

bool key_names_take(struct key_names *names, const char *text, enum key_side side)
{
	*names = (struct key_names){.copy = strdup(text ? text : "")};
	if (!names->copy)
		return fail_no_memory();
	for (char *save, *name = strtok_r(names->copy, ",+", &save); name; name = strtok_r(NULL, ",+", &save)) {
		char *colon = strchr(name, ':');
		if (names->nr == EVENT_KEY_FIELDS)
			return fail_msg("'%s' has more than %d fields", text, EVENT_KEY_FIELDS);
		if (colon)
			*colon = '\0';
		names->names[names->nr++] = colon && side == KEY_OF_END ? colon + 1 : name;
	}
	return true;
}

const char *key_fields_find(struct key_fields *fields, const struct tp_event *described, const struct key_names *names)
{
	for (fields->nr = 0; fields->nr < names->nr; fields->nr++) {
		struct record_field *field = &fields->fields[fields->nr];
		if (!record_field_find(field, described, names->names[fields->nr]) ||
		    (field->field.type != TP_TYPE_NUMBER && field->field.type != TP_TYPE_TEXT && field->field.type != TP_TYPE_CPU))
			return names->names[fields->nr];
	}
	return NULL;
}

bool key_field_lacks(const struct tp_event *described, const char *name)
{
	struct tp_buffer there = {.text = NULL};

	tp_filter_fields_tell(&there, described, name, strlen(name), NULL);
	fail_msg("event '%s:%s' has no field '%s' that is an integer or a text: %s", described->system, described->name, name,
		 there.failed ? "" : there.text);
	tp_buffer_free(&there);
	return false;
}

struct tp_pair_key key_of_event(const struct key_fields *fields, const struct event *event)
{
	struct tp_count_key key;

	key.nr = 0;
	key.words[key.nr++] = (uint64_t)event->pid;
	for (size_t i = 0; i < fields->nr; i++) {
		struct tp_value_bytes text = {.at = NULL};
		uint64_t number = 0;
		if (record_field_number(&fields->fields[i], event, &number)) {
			key.words[key.nr++] = number;
			continue;
		}
		record_field_text(&fields->fields[i], event, &text);
		tp_count_key_add(&key, text.at, text.len);
	}
	if (!fields->nr)
		key.words[key.nr++] = (uint64_t)event->tid;
	return tp_pair_key_of(&key);
}
