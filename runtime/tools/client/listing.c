/* SPDX-License-Identifier: MIT */
#include "client/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/request.h"
#include "fail_msg.h"

/* Of one event. */
#define FORMAT_MAX ((size_t)16 << 20)

struct listing {
	struct event_list *list;
	bool failed;

	/* The event whose format may follow. */
	char *line; /* its own, where its names are */
	struct listed_event event;
	char *format;
	size_t len, size;
};

/* The event is complete: no line belongs to it any more. */
static bool end_event(struct listing *listing)
{
	bool good = true;

	if (listing->line) {
		listing->event.format = listing->len ? listing->format : NULL;
		good = event_list_add(listing->list, &listing->event);
	}
	free(listing->line);
	listing->line = NULL;
	listing->len = 0;
	return good;
}

/* KEY=VALUE in the line: the value, which is ended; NULL: it is not there. */
static char *value_of(char *line, const char *key)
{
	char *at = strstr(line, key);

	if (!at)
		return NULL;
	at += strlen(key);
	at[strcspn(at, " ")] = '\0';
	return at;
}

/*
 * "event SYSTEM:NAME id=N level=N outputs=IDS tracepoint=NAME place=FILE:LINE": place= is last, and may have blanks in
 * it.
 */
static bool begin_event(struct listing *listing, const char *text)
{
	char *line = listing->line = strdup(text + strlen("event "));

	if (!line)
		return fail_no_memory();
	char *place = strstr(line, " place=");
	if (place)
		*place = '\0';
	/* From behind, as each value ends the line. */
	const char *outputs = value_of(line, " outputs=");
	const char *level = value_of(line, " level=");
	line[strcspn(line, " ")] = '\0';
	listing->event = (struct listed_event){
		.name = line,
		.level = level ? (unsigned int)strtoul(level, NULL, 10) : 0,
		.place = place && place[strlen(" place=")] != ':' ? place + strlen(" place=") : "",
		.outputs = outputs ? outputs : "-",
	};
	return true;
}

static bool add_format(struct listing *listing, const char *text)
{
	const size_t len = strlen(text);

	if (listing->len + len + 2 > listing->size) {
		size_t size = 2 * (listing->len + len) + 1024;
		char *format = size < FORMAT_MAX ? realloc(listing->format, size) : NULL;
		if (!format)
			return fail_no_memory();
		listing->format = format;
		listing->size = size;
	}
	memcpy(listing->format + listing->len, text, len);
	listing->len += len;
	strcpy(listing->format + listing->len++, "\n");
	return true;
}

static bool take_line(void *data, char *line)
{
	struct listing *listing = data;
	bool good = true;

	if (strncmp(line, "event ", strlen("event ")) == 0)
		good = end_event(listing) && begin_event(listing, line);
	else if (line[0] == '\t' && listing->line)
		good = add_format(listing, line + 1);
	listing->failed = listing->failed || !good;
	return good;
}

bool listing_read(struct event_list *list, struct connection *connection, const char *patterns, bool with_formats)
{
	struct listing listing = {.list = list};
	struct answer answer;

	bool good = ask(connection, &answer, -1, take_line, &listing, "%s%s%s", with_formats ? "formats" : "events",
			*patterns ? " " : "", patterns);
	good = good && !listing.failed && end_event(&listing);
	free(listing.line);
	free(listing.format);
	return good;
}
