/* SPDX-License-Identifier: MIT */
/*
 * sinks/latency/options.c - what is measured, as the user writes it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/options.h"
#include "sinks/latency/latency.h"

static bool parse_events(struct tp_latency_options *options, enum tp_latency_role role, const char *value)
{
	int error;

	tp_pattern_free(options->events[role]);
	options->events[role] = tp_pattern_new(value, &error);
	return options->events[role] != NULL;
}

static bool parse_begin(const char *value, void *into)
{
	return parse_events(into, TP_LATENCY_BEGIN, value);
}

static bool parse_end(const char *value, void *into)
{
	return parse_events(into, TP_LATENCY_END, value);
}

/* The next of "FIELD+FIELD" in *text, which goes on behind it; NULL: it is empty, or there is no memory. For free(). */
static char *next_field(const char **text)
{
	const size_t len = strcspn(*text, "+");
	char *field = len ? strndup(*text, len) : NULL;

	*text += len + ((*text)[len] == '+');
	return field;
}

/* "FIELD", or "FIELD:FIELD" if the begin calls it otherwise than the end. */
static bool add_key(struct tp_latency_options *options, char *field)
{
	char *colon = field ? strchr(field, ':') : NULL;

	if (!field || options->nr_fields == TP_LATENCY_FIELDS || colon == field || (colon && !colon[1])) {
		free(field);
		return false;
	}
	options->fields[TP_LATENCY_END][options->nr_fields] = strdup(colon ? colon + 1 : field);
	if (colon)
		*colon = '\0';
	options->fields[TP_LATENCY_BEGIN][options->nr_fields] = field;
	return options->fields[TP_LATENCY_END][options->nr_fields++] != NULL;
}

static bool parse_key(const char *value, void *into)
{
	do {
		if (!add_key(into, next_field(&value)))
			return false;
	} while (*value);
	return true;
}

static bool parse_by(const char *value, void *into)
{
	struct tp_latency_options *options = into;

	do {
		if (options->nr_by == TP_LATENCY_FIELDS || !(options->by[options->nr_by] = next_field(&value)))
			return false;
		options->nr_by++;
	} while (*value);
	return true;
}

static bool parse_slowest(const char *value, void *into)
{
	struct tp_latency_options *options = into;

	return tp_options_number(value, "", &options->slowest) && options->slowest <= TP_LATENCY_SLOWEST;
}

static const struct tp_option known[] = {
	{"begin", parse_begin, "an event"},
	{"end", parse_end, "an event"},
	{"key", parse_key, "one to three fields, as in id+peer, or id:request if the begin's id is the end's request"},
	{"by", parse_by, "one to three fields, as in method+peer"},
	{"slowest", parse_slowest, "a number up to 100"},
};

static const struct tp_options options_of_latency = {
	.subject = "latency",
	.consequence = "nothing is measured",
	.known = known,
	.nr = sizeof(known) / sizeof(known[0]),
};

bool tp_latency_options_parse(struct tp_latency_options *options, const char *text, const char *name)
{
	if (!tp_options_parse(&options_of_latency, text, name, options))
		return false;
	if (!options->events[TP_LATENCY_BEGIN] || !options->events[TP_LATENCY_END])
		tp_complain("latency '%s': begin=EVENT and end=EVENT say from where to where; nothing is measured", name);
	return options->events[TP_LATENCY_BEGIN] && options->events[TP_LATENCY_END];
}

void tp_latency_options_free(struct tp_latency_options *options)
{
	for (enum tp_latency_role role = 0; role < TP_LATENCY_NR_ROLES; role++) {
		tp_pattern_free(options->events[role]);
		for (uint32_t i = 0; i < TP_LATENCY_FIELDS; i++)
			free(options->fields[role][i]);
	}
	for (uint32_t i = 0; i < TP_LATENCY_FIELDS; i++)
		free(options->by[i]);
}
