/* SPDX-License-Identifier: MIT */
/*
 * ctf_string.c - any text as a string of TSDL: readers want UTF-8.
 */
#include "ctf.h"

size_t tp_utf8_char(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t len = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++) { /* stops at a NUL */
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Longer than it need be; half of a pair of UTF-16; beyond Unicode. */
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	return len;
}

/* Comments have such strings, too, and end at their first end. */
static bool ends_comment(const char *text, size_t at)
{
	return text[at] == '/' && at > 0 && text[at - 1] == '*';
}

/* How many bytes stand for themselves. */
static size_t plain_span(const char *text)
{
	size_t at = 0;
	size_t len;

	while ((len = tp_utf8_char(text + at)) != 0) {
		unsigned char c = (unsigned char)text[at];
		if (c < ' ' || c == 0x7f || c == '"' || c == '\\' || ends_comment(text, at))
			break;
		at += len;
	}
	return at;
}

void tp_ctf_put_text(struct tp_buffer *b, const char *text)
{
	while (*text) {
		size_t plain = plain_span(text);
		tp_buffer_printf(b, "%.*s", (int)plain, text);
		text += plain;
		unsigned char c = (unsigned char)*text;
		if (!c)
			break;
		if (c == '"' || c == '\\')
			tp_buffer_printf(b, "\\%c", c);
		else if (c < 0x80)
			tp_buffer_printf(b, "\\%03o", c);
		else
			tp_buffer_printf(b, "\\\\x%02x", c);
		text++;
	}
}

void tp_ctf_put_string(struct tp_buffer *b, const char *text)
{
	tp_buffer_printf(b, "\"");
	tp_ctf_put_text(b, text);
	tp_buffer_printf(b, "\"");
}
