/* SPDX-License-Identifier: MIT */
/*
 * events/pattern.c - what tp_enable and tp_disable take: a comma-separated list of
 * globs, those that begin with "!" to take their matches out again.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "events/pattern.h"

struct tp_pattern {
	char *text;   /* as given; behind the globs */
	size_t size;  /* bytes of globs */
	char globs[]; /* each ended by a NUL */
};

/* The blanks that people write behind a comma, or a "!", are no part of a glob. */
static size_t trim(const char **text, size_t len)
{
	while (len && (**text == ' ' || **text == '\t')) {
		(*text)++;
		len--;
	}
	while (len && ((*text)[len - 1] == ' ' || (*text)[len - 1] == '\t'))
		len--;
	return len;
}

/* Copies the list into pattern, which has room for it; false where it makes no sense. */
static bool parse(struct tp_pattern *pattern, const char *text)
{
	bool positive = false;

	for (;;) {
		const char *glob = text;
		size_t until = strcspn(text, ",");
		size_t len = trim(&glob, until);

		if (len == 0 && !text[until])
			return positive; /* a comma at the end is forgiven */
		bool negative = len && *glob == '!';
		if (negative) {
			glob++;
			len = trim(&glob, len - 1);
			pattern->globs[pattern->size++] = '!';
		}
		if (len == 0)
			return false;
		positive = positive || !negative;
		memcpy(pattern->globs + pattern->size, glob, len);
		pattern->globs[pattern->size + len] = '\0';
		pattern->size += len + 1;
		if (!text[until])
			return positive;
		text += until + 1;
	}
}

struct tp_pattern *tp_pattern_new(const char *text, int *error)
{
	struct tp_pattern *pattern;

	*error = -EINVAL;
	if (!text)
		return NULL;
	const size_t size = strlen(text) + 1;
	pattern = tp_malloc(sizeof(*pattern) + 2 * size);
	if (!pattern) {
		*error = -ENOMEM;
		return NULL;
	}
	pattern->size = 0;
	pattern->text = pattern->globs + size;
	memcpy(pattern->text, text, size);
	if (parse(pattern, text)) {
		*error = 0;
		return pattern;
	}
	free(pattern);
	return NULL;
}

void tp_pattern_free(struct tp_pattern *pattern)
{
	free(pattern);
}

const char *tp_pattern_text(const struct tp_pattern *pattern)
{
	return pattern->text;
}

bool tp_pattern_same(const struct tp_pattern *a, const struct tp_pattern *b)
{
	return a->size == b->size && memcmp(a->globs, b->globs, a->size) == 0;
}

void tp_pattern_each(const struct tp_pattern *pattern, void (*fct)(const char *glob, void *data), void *data)
{
	const char *glob;

	for (size_t at = 0; at < pattern->size; at += strlen(glob) + 1) {
		glob = pattern->globs + at;
		fct(*glob == '!' ? glob + 1 : glob, data);
	}
}

char *tp_pattern_take_filter(char *text)
{
	const size_t len = strlen(TP_FILTER_WORD);

	for (char *at = text; (at = strstr(at, TP_FILTER_WORD)); at++) {
		if ((at > text && !strchr(TP_BLANKS, at[-1])) || (at[len] && !strchr(TP_BLANKS, at[len])))
			continue;
		char *filter = at + len + strspn(at + len, TP_BLANKS);
		while (at > text && strchr(TP_BLANKS, at[-1]))
			at--;
		*at = '\0';
		return filter;
	}
	return NULL;
}

static bool glob_matches(const char *glob, const char *full_name, const char *event)
{
	return fnmatch(glob, strchr(glob, ':') ? full_name : event, 0) == 0;
}

bool tp_pattern_matches(const struct tp_pattern *pattern, const char *full_name)
{
	const char *event = strchr(full_name, ':') + 1;
	const char *glob;
	bool matches = false;

	for (size_t at = 0; at < pattern->size; at += strlen(glob) + 1) {
		glob = pattern->globs + at;
		if (*glob != '!')
			matches = matches || glob_matches(glob, full_name, event);
		else if (glob_matches(glob + 1, full_name, event))
			return false;
	}
	return matches;
}

/* ---- Where a rule ends ---- */

char *tp_trim(char *text)
{
	text += strspn(text, TP_BLANKS);
	for (size_t len = strlen(text); len && strchr(TP_BLANKS, text[len - 1]); len--)
		text[len - 1] = '\0';
	return text;
}

/* Without a blank on either side, it is a part of a name. */
static bool is_word(const char *text, const char *at, const char *word)
{
	const size_t len = strlen(word);

	return strncmp(at, word, len) == 0 && (at == text || strchr(TP_BLANKS, at[-1])) &&
	       (!at[len] || strchr(TP_BLANKS, at[len]));
}

/* The first semicolon or arrow that separates. */
static char *find(char *text, bool rules, bool arrow)
{
	bool filter = false;

	for (char *at = text; *at; at++) {
		if (filter && (*at == '"' || *at == '\'')) {
			at = strchr(at + 1, *at);
			if (!at)
				return NULL;
		} else if (is_word(text, at, "<-")) {
			if (arrow)
				return at;
			rules = true;
			filter = false;
		} else if (rules && is_word(text, at, TP_FILTER_WORD)) {
			filter = true;
		} else if (*at == ';' && !arrow) {
			return at;
		}
	}
	return NULL;
}

char *tp_cut_at_semicolon(char *text, bool rules)
{
	char *at = find(text, rules, false);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}

char *tp_cut_at_arrow(char *text, bool rules)
{
	char *at = find(text, rules, true);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 2;
}
