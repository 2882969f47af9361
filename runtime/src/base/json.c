/* SPDX-License-Identifier: MIT */
/*
 * base/json.c - see json.h.
 */
#include "base/json.h"
#include "base/utf8.h"

void tp_json_string(struct tp_buffer *b, const char *text)
{
	tp_buffer_printf(b, "\"");
	while (*text) {
		size_t len = tp_utf8_char(text);
		unsigned char c = (unsigned char)*text;
		if (c == '"' || c == '\\')
			tp_buffer_printf(b, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			tp_buffer_printf(b, "\\u%04x", c);
		else if (len)
			tp_buffer_printf(b, "%.*s", (int)len, text);
		else
			tp_buffer_printf(b, "\\\\x%02x", c);
		text += len ? len : 1;
	}
	tp_buffer_printf(b, "\"");
}
