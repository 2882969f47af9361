/* SPDX-License-Identifier: MIT */
#include "events_text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/event.h>

#include "base/text.h"
#include "fail_msg.h"

/* A longer one makes its column no wider, so that it does not push those of all others away. */
#define DECLARATION_WIDTH_MAX 40

/* ---- The list ---- */

/* NULL stays NULL. */
static bool copy(const char **text)
{
	if (*text)
		*text = strdup(*text);
	return *text;
}

static void free_event(struct listed_event *event)
{
	free((char *)event->name);
	free((char *)event->place);
	free((char *)event->outputs);
	free((char *)event->format);
}

/* Twice as many whenever their number is a power of two. */
static bool has_room(struct event_list *list)
{
	if ((list->nr & (list->nr - 1)) != 0)
		return true;
	struct listed_event *events = reallocarray(list->events, list->nr ? 2 * list->nr : 1, sizeof(*events));
	if (events)
		list->events = events;
	return events;
}

bool event_list_add(struct event_list *list, const struct listed_event *event)
{
	struct listed_event new = *event;

	/* Each is copied, even after a failure: else the new one would have texts that are not its own. */
	bool name = copy(&new.name);
	bool place = copy(&new.place) || !event->place;
	bool outputs = copy(&new.outputs) || !event->outputs;
	bool format = copy(&new.format) || !event->format;
	if (!name || !place || !outputs || !format || !has_room(list)) {
		free_event(&new);
		return fail_no_memory();
	}
	list->events[list->nr++] = new;
	return true;
}

void event_list_free(struct event_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free_event(&list->events[i]);
	free(list->events);
	*list = (struct event_list){.events = NULL};
}

/* ---- Texts ---- */

/* They come from a program's file, or from a process: a terminal must not take any of it for a command. */
static void put(FILE *to, const char *text, size_t len)
{
	for (size_t i = 0, shown; i < len; i += shown ? shown : 1) {
		shown = tp_printable_char(text + i, len - i);
		if (shown)
			fwrite(text + i, 1, shown, to);
		else
			fputc('?', to);
	}
}

static void put_padded(FILE *to, const char *text, size_t len, size_t width)
{
	put(to, text, len);
	if (len < width)
		fprintf(to, "%*s", (int)(width - len), "");
}

/* ---- Fields: those of the format, after the blank line that ends the common ones ---- */

struct field {
	const char *declaration;
	size_t len;
	unsigned int offset, size;
};

/* The next field at or after *at, which moves behind it; false: there is none. */
static bool next_field(const char **at, struct field *field)
{
	static const char begin[] = "\tfield:", behind[] = ";\toffset:";

	while (strncmp(*at, begin, strlen(begin)) == 0) {
		const char *line = *at;
		const char *end = strchrnul(line, '\n');
		const char *numbers = strstr(line, behind);
		*at = *end ? end + 1 : end;
		field->declaration = line + strlen(begin);
		if (!numbers || numbers >= end ||
		    sscanf(numbers, ";\toffset:%u;\tsize:%u;", &field->offset, &field->size) != 2)
			continue;
		field->len = (size_t)(numbers - field->declaration);
		return true;
	}
	return false;
}

static void put_fields(FILE *to, const char *at)
{
	struct field field;
	size_t width = 0;

	for (const char *seek = at; next_field(&seek, &field);) {
		if (field.len > width && field.len <= DECLARATION_WIDTH_MAX)
			width = field.len;
	}
	while (next_field(&at, &field)) {
		fputc('\t', to);
		put(to, field.declaration, field.len);
		fputc(';', to);
		put_padded(to, "", 0, field.len < width ? width - field.len : 0);
		fprintf(to, "  /* offset %u, size %u */\n", field.offset, field.size);
	}
}

static void put_format(FILE *to, const char *format)
{
	static const char begin[] = "\nprint fmt: ";
	const char *fields = strstr(format, "\n\n");
	const char *print = strstr(format, begin);

	if (fields)
		put_fields(to, fields + 2);
	if (print) {
		print += strlen(begin);
		size_t len = strlen(print);
		while (len && print[len - 1] == '\n')
			len--;
		fputs("\tprint fmt: ", to);
		put(to, print, len);
		fputc('\n', to);
	}
}

/* ---- Lines ---- */

static const char *level_name(unsigned int level)
{
	static const char *const names[] = {
#define LEVEL(name) [TP_LOGLEVEL_##name] = #name
		LEVEL(EMERG), LEVEL(ALERT), LEVEL(CRIT), LEVEL(ERR), LEVEL(WARNING), LEVEL(NOTICE), LEVEL(INFO),
		LEVEL(DEBUG_SYSTEM), LEVEL(DEBUG_PROGRAM), LEVEL(DEBUG_PROCESS), LEVEL(DEBUG_MODULE),
		LEVEL(DEBUG_UNIT), LEVEL(DEBUG_FUNCTION), LEVEL(DEBUG_LINE), LEVEL(DEBUG),
	};

	return level < sizeof(names) / sizeof(names[0]) ? names[level] : "?";
}

static const char *place_of(const struct listed_event *event)
{
	return event->place && *event->place ? event->place : "-";
}

struct widths {
	size_t name, level, place;
};

static void widen(size_t *width, const char *text)
{
	const size_t len = strlen(text);

	if (len > *width)
		*width = len;
}

static void put_line(FILE *to, const struct listed_event *event, const struct widths *widths)
{
	const char *level = level_name(event->level);
	const char *place = place_of(event);

	put_padded(to, event->name, strlen(event->name), widths->name);
	fputs("  ", to);
	put_padded(to, level, strlen(level), widths->level);
	fputs("  ", to);
	put_padded(to, place, strlen(place), event->outputs ? widths->place : 0);
	if (event->outputs) {
		const bool off = strcmp(event->outputs, "-") == 0;
		fputs(off ? "  off" : "  on:", to);
		put(to, event->outputs, off ? 0 : strlen(event->outputs));
	}
	fputc('\n', to);
}

/* For a person; what reads a pipe wants events only. */
static void put_header(FILE *to, struct widths *widths, bool with_state)
{
	static const char *const titles[] = {"EVENT", "LEVEL", "DEFINED AT"};

	widen(&widths->name, titles[0]);
	widen(&widths->level, titles[1]);
	widen(&widths->place, titles[2]);
	fprintf(to, "%-*s  %-*s  %-*s%s\n", (int)widths->name, titles[0], (int)widths->level, titles[1],
		with_state ? (int)widths->place : 0, titles[2], with_state ? "  STATE" : "");
}

void event_list_print(const struct event_list *list, bool with_fields, FILE *to)
{
	struct widths widths = {0, 0, 0};

	for (size_t i = 0; i < list->nr; i++) {
		widen(&widths.name, list->events[i].name);
		widen(&widths.level, level_name(list->events[i].level));
		widen(&widths.place, place_of(&list->events[i]));
	}
	if (list->nr && isatty(fileno(to)))
		put_header(to, &widths, list->events[0].outputs);
	for (size_t i = 0; i < list->nr; i++) {
		put_line(to, &list->events[i], &widths);
		if (with_fields && list->events[i].format)
			put_format(to, list->events[i].format);
	}
}
