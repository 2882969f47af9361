/* SPDX-License-Identifier: MIT */
/*
 * events/split.c - see split.h.
 */
#include <string.h>

#include "events/split.h"
#include "events/pattern.h"

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
