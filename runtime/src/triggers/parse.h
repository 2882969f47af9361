/* SPDX-License-Identifier: MIT */
/*
 * triggers/parse.h - a trigger's text: [!]COMMAND[:SYSTEM:EVENT][:COUNT][:after=TIME] [if FILTER], or
 * [!]COMMAND:ARGUMENT [if FILTER].
 */
#ifndef TP_TRIGGER_PARSE_H
#define TP_TRIGGER_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "filter/filter.h"
#include "triggers/trigger.h"
#include "triggers/triggers.h"

struct tp_trigger_text {
	bool remove; /* a "!" stands in front */
	const struct tp_trigger_command *command;
	bool alone;         /* it acts on no sink */
	char *target;       /* "system:event", or NULL */
	char *argument;     /* takes_all: all up to the filter ... */
	size_t argument_at; /* ... and where it begins */
	uint64_t count;     /* TP_TRIGGER_UNLIMITED: none is given */
	uint64_t after_ns;
	const char *filter; /* in the text, which must stay; or NULL */
	size_t filter_len;  /* without the blanks behind it */
};

/* 0, -EINVAL or -ENOMEM; *error says what is wrong, and is to be freed. */
int tp_trigger_parse(struct tp_trigger_text *parsed, const char *text, struct tp_filter_error *error);
void tp_trigger_text_free(struct tp_trigger_text *parsed);

/* ---- What is wrong with a request, as a text in it ---- */

/* Of the part of the trigger that begins there; without memory, nothing. Frees *wrong, and returns its error. */
int tp_trigger_tell_wrong(struct tp_trigger_request *request, struct tp_filter_error *wrong, size_t begin);

/* Returns -EINVAL. */
int tp_trigger_refuse(struct tp_trigger_request *request, const char *why);

#endif /* TP_TRIGGER_PARSE_H */
