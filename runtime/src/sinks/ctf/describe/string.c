/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/string.c - any text as a string of TSDL: readers want UTF-8.
 */
#include <stdbool.h>

#include "base/text.h"
#include "sinks/ctf/describe/metadata.h"

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
