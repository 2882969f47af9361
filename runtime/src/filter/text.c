/* SPDX-License-Identifier: MIT */
/*
 * filter/text.c - see text.h. Globs are those of the kernel's lib/glob.c: "*", "?", "[a-z]", "[!a-z]", "\" in front of a
 * character that stands for itself; the whole text must match.
 */
#include <string.h>

#include "filter/text.h"

enum tp_text_match tp_text_match_of(const char **pattern, uint32_t *len)
{
	const char *text = *pattern;
	const bool front = *len && text[0] == '*';
	const bool end = *len > 1 && text[*len - 1] == '*';
	const uint32_t inner = *len - front - end;

	for (uint32_t i = 0; i < inner; i++) {
		if (strchr("*?[\\", text[front + i]))
			return TP_TEXT_GLOB;
	}
	*pattern = text + front;
	*len = inner;
	return front && end ? TP_TEXT_CONTAINS : front ? TP_TEXT_ENDS : end ? TP_TEXT_BEGINS : TP_TEXT_EQUAL;
}

/*
 * Whether c is in the class whose "[" stands in front of *at, which goes on behind it. A class that is not closed is
 * none: then *at stays, and the "[" is a character.
 */
static bool class_has(const char **at, const char *end, unsigned char c, bool *is_class)
{
	const char *p = *at;
	const bool inverted = p < end && *p == '!';
	bool has = false;

	*is_class = false;
	p += inverted;
	for (const char *begin = p; p < end && (*p != ']' || p == begin); p++) {
		const unsigned char from = (unsigned char)*p;
		unsigned char to = from;
		if (end - p > 2 && p[1] == '-' && p[2] != ']') {
			to = (unsigned char)p[2];
			p += 2;
		}
		has = has || (from <= c && c <= to);
	}
	if (p >= end)
		return false;
	*is_class = true;
	*at = p + 1;
	return has != inverted;
}

/* Whether the character fits what stands at *at, which goes on behind that. */
static bool one_fits(const char **at, const char *end, char c)
{
	const char p = *(*at)++;
	bool is_class;

	switch (p) {
	case '?':
		return true;
	case '[': {
		const bool has = class_has(at, end, (unsigned char)c, &is_class);
		return is_class ? has : c == '[';
	}
	case '\\':
		return *at < end && *(*at)++ == c;
	default:
		return p == c;
	}
}

/* Where something does not fit, the last "*" takes one character more: those before it need not. */
static bool glob(const char *text, size_t len, const char *pattern, size_t pattern_len)
{
	const char *const end = text + len, *const pattern_end = pattern + pattern_len;
	const char *back = NULL, *back_text = NULL;

	for (;;) {
		if (pattern < pattern_end && *pattern == '*') {
			back = ++pattern;
			back_text = text;
			continue;
		}
		if (text == end) /* a "\\" at the end stands for itself no more, as in the kernel */
			return pattern == pattern_end || (pattern + 1 == pattern_end && *pattern == '\\');
		if (pattern < pattern_end && one_fits(&pattern, pattern_end, *text)) {
			text++;
			continue;
		}
		if (!back)
			return false;
		pattern = back;
		text = ++back_text;
	}
}

bool tp_text_matches(enum tp_text_match how, const char *text, size_t len, const char *pattern, size_t pattern_len)
{
	switch (how) {
	case TP_TEXT_EQUAL:
		return len == pattern_len && memcmp(text, pattern, len) == 0;
	case TP_TEXT_BEGINS:
		return len >= pattern_len && memcmp(text, pattern, pattern_len) == 0;
	case TP_TEXT_ENDS:
		return len >= pattern_len && memcmp(text + len - pattern_len, pattern, pattern_len) == 0;
	case TP_TEXT_CONTAINS:
		return memmem(text, len, pattern, pattern_len) != NULL;
	default:
		return glob(text, len, pattern, pattern_len);
	}
}
