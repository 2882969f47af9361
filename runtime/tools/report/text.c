/* SPDX-License-Identifier: MIT */
#include "report/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tell.h"

static const char dots[] = "...";

bool text_init(struct text *text)
{
	*text = (struct text){.bytes = malloc(TEXT_MAX + sizeof(dots))};
	return text->bytes || tell_no_memory();
}

void text_add(struct text *text, const char *bytes, size_t len)
{
	if (text->is_full)
		return;
	if (len > TEXT_MAX - text->len) {
		len = TEXT_MAX - text->len;
		text->is_full = true;
	}
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	if (text->is_full) {
		memcpy(text->bytes + text->len, dots, strlen(dots));
		text->len += strlen(dots);
	}
}

void text_printf(struct text *text, const char *format, ...)
{
	char bytes[512];
	va_list values;

	va_start(values, format);
	int len = vsnprintf(bytes, sizeof(bytes), format, values);
	va_end(values);
	text_add(text, bytes, (size_t)len < sizeof(bytes) ? (size_t)len : sizeof(bytes) - 1);
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

static void add(struct text *text, const char *bytes, size_t len, const char *with_backslash)
{
	const char *end = bytes + len;

	while (bytes < end && !text->is_full) {
		const char *run = bytes;
		while (run < end && !is_control(*run) && !strchr(with_backslash, *run))
			run++;
		text_add(text, bytes, (size_t)(run - bytes));
		bytes = run;
		if (bytes == end)
			return;
		if (*bytes == '\n')
			text_add(text, "\\n", 2);
		else if (is_control(*bytes))
			text_printf(text, "\\x%02x", (unsigned char)*bytes);
		else
			text_printf(text, "\\%c", *bytes);
		bytes++;
	}
}

void text_add_escaped(struct text *text, const char *bytes, size_t len)
{
	add(text, bytes, len, "");
}

void text_add_quoted(struct text *text, const char *bytes, size_t len)
{
	text_add(text, "\"", 1);
	add(text, bytes, len, "\"\\");
	text_add(text, "\"", 1);
}
