/* SPDX-License-Identifier: MIT */
#include "read/c_text.h"

#include <ctype.h>
#include <string.h>

#define MAX_TRIED 64 /* quotes inside of a format that might be its last */

bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

const char *skip_quoted(const char *at, const char *end)
{
	char quote = *at++;

	while (at < end && *at != quote)
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at < end ? at + 1 : end;
}

const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && *at == ' ')
		at++;
	return at;
}

bool span_has(struct span text, const char *what)
{
	return memmem(text.begin, (size_t)(text.end - text.begin), what, strlen(what)) != NULL;
}

/* ---- The arguments ---- */

/* How many there are, each behind a comma; -1 where something is left open. */
static int count_arguments(struct span text)
{
	int depth = 0;
	int nr = 0;

	while (text.begin < text.end && depth >= 0) {
		if (*text.begin == '"' || *text.begin == '\'') {
			const char *next = skip_quoted(text.begin, text.end);
			if (next[-1] != *text.begin)
				return -1;
			text.begin = next;
			continue;
		}
		depth += (*text.begin == '(' || *text.begin == '{') - (*text.begin == ')' || *text.begin == '}');
		nr += depth == 0 && *text.begin == ',';
		text.begin++;
	}
	return depth == 0 ? nr : -1;
}

int split_arguments(struct span text, struct span *found, int room)
{
	int depth = 0, nr = 0;

	while (text.end > text.begin && (text.end[-1] == '\n' || text.end[-1] == ' '))
		text.end--;
	for (const char *at = text.begin; at < text.end;) {
		if (*at == '"' || *at == '\'') {
			at = skip_quoted(at, text.end);
			continue;
		}
		depth += (*at == '(' || *at == '{') - (*at == ')' || *at == '}');
		if (depth == 0 && *at == ',') {
			if (nr == room)
				return -1;
			if (nr)
				found[nr - 1].end = at;
			found[nr++] = (struct span){skip_blanks(at + 1, text.end), text.end};
		}
		at++;
	}
	return nr;
}

/* ---- The format ---- */

/* How many arguments the format wants. */
static int conversions(struct span format)
{
	int nr = 0;

	for (const char *at = format.begin; at < format.end; at++) {
		if (*at != '%')
			continue;
		for (at++; at < format.end && strchr("-+ #0123456789.*", *at); at++)
			nr += *at == '*';
		nr += at < format.end && *at != '%';
	}
	return nr;
}

const char *format_end(struct span text)
{
	int tried = 0;

	for (const char *at = text.begin + 1; at < text.end && tried < MAX_TRIED; at++) {
		const char *behind = skip_blanks(at + 1, text.end);
		if (*at != '"' || (behind < text.end && *behind != ',' && *behind != '\n'))
			continue;
		tried++;
		int nr = count_arguments((struct span){behind, text.end});
		if (nr >= 0 && nr == conversions((struct span){text.begin + 1, at}))
			return at;
	}
	return NULL;
}

const char *conversion_end(const char *at, const char *end, int *stars)
{
	*stars = 0;
	for (; at < end && strchr("-+ #0123456789.*hljztqL", *at); at++)
		*stars += *at == '*';
	return at < end ? at + 1 : end;
}
