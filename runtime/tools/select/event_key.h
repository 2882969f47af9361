/* SPDX-License-Identifier: MIT */
/* event_key.h - what two events have in common: the values of some fields of each, or else their thread. */
#ifndef EVENT_KEY_H
#define EVENT_KEY_H

#include "count/pairs.h"
#include "select/record_field.h"

#define EVENT_KEY_FIELDS 3

/* Names of fields, of a copy. Zeros are none; to be freed. */
struct key_names {
	char *copy;
	char *names[EVENT_KEY_FIELDS];
	size_t nr;
};

/* Fields of an event. */
struct key_fields {
	struct record_field fields[EVENT_KEY_FIELDS];
	size_t nr;
};

/* Of the begin or the end of a pair: "id:request" is what the one calls it and what the other does. */
enum key_side { KEY_OF_BEGIN, KEY_OF_END };

/* "id,peer:client"; NULL is none. False, and a message: there are too many, or there is no memory. */
bool key_names_take(struct key_names *names, const char *text, enum key_side side);

/* The name of what the event lacks, or has as something that is neither an integer nor a text; or NULL. */
const char *key_fields_find(struct key_fields *fields, const struct tp_event *described, const struct key_names *names);

/* A message about that; returns false. */
bool key_field_lacks(const struct tp_event *described, const char *name);

/* Of the event; with no fields, by its thread. Two processes have nothing in common. */
struct tp_pair_key key_of_event(const struct key_fields *fields, const struct event *event);

#endif /* EVENT_KEY_H */
