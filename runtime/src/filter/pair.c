/* SPDX-License-Identifier: MIT */
/*
 * filter/pair.c - see tp_filter_pair().
 */
#include <string.h>

#include "filter/tree.h"

/* The next byte that is a parenthesis or a quote; or the end. */
static const char *next_mark(const char *text)
{
	return text + strcspn(text, "()'\"");
}

/* In a text at whose end depth of them are open: the last "(" that nothing closes is the last one that opens that depth. */
static size_t unclosed(const char *text, size_t depth)
{
	size_t open = 0, found = 0;

	for (const char *at = next_mark(text); *at; at = next_mark(at + 1)) {
		if (*at == '(' && ++open == depth)
			found = (size_t)(at - text);
		else if (*at == ')')
			open--;
		else if (*at != '(')
			at = strchr(at + 1, *at);
	}
	return found;
}

bool tp_filter_pair(const char *text, struct tp_filter_error *error)
{
	size_t open = 0;

	for (const char *at = next_mark(text); *at; at = next_mark(at + 1)) {
		const size_t where = (size_t)(at - text);
		if (*at == '(') {
			open++;
		} else if (*at == ')') {
			if (!open--)
				return tp_filter_fail(error, where, "Too few '('");
		} else {
			at = strchr(at + 1, *at);
			if (!at)
				return tp_filter_fail(error, where, "Missing matching quote");
		}
	}
	return open ? tp_filter_fail(error, unclosed(text, open), "Too many '('") : true;
}
