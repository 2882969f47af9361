/* SPDX-License-Identifier: MIT */
#include "report/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fail_msg.h"

static const char dots[] = "...";

bool line_init(struct line *line)
{
	*line = (struct line){.bytes = malloc(LINE_BYTES + sizeof(dots))};
	return line->bytes || fail_no_memory();
}

void line_add(struct line *line, const char *bytes, size_t len)
{
	if (line->is_full)
		return;
	if (len > LINE_BYTES - line->len) {
		len = LINE_BYTES - line->len;
		line->is_full = true;
	}
	memcpy(line->bytes + line->len, bytes, len);
	line->len += len;
	if (line->is_full) {
		memcpy(line->bytes + line->len, dots, strlen(dots));
		line->len += strlen(dots);
	}
}

void line_printf(struct line *line, const char *format, ...)
{
	char bytes[512];
	va_list values;

	va_start(values, format);
	int len = vsnprintf(bytes, sizeof(bytes), format, values);
	va_end(values);
	line_add(line, bytes, (size_t)len < sizeof(bytes) ? (size_t)len : sizeof(bytes) - 1);
}

static void add(struct line *line, const char *bytes, size_t len, const char *with_backslash)
{
	const char *end = bytes + len;

	while (bytes < end && !line->is_full) {
		const char *run = bytes;
		size_t shown = 1;
		while (run < end && (shown = tp_printable_char(run, (size_t)(end - run))) != 0 && !strchr(with_backslash, *run))
			run += shown;
		line_add(line, bytes, (size_t)(run - bytes));
		bytes = run;
		if (bytes == end)
			return;
		if (*bytes == '\n')
			line_add(line, "\\n", 2);
		else if (!shown)
			line_printf(line, "\\x%02x", (unsigned char)*bytes);
		else
			line_printf(line, "\\%c", *bytes);
		bytes++;
	}
}

void line_add_escaped(struct line *line, const char *bytes, size_t len)
{
	add(line, bytes, len, "");
}

void line_add_quoted(struct line *line, const char *bytes, size_t len)
{
	line_add(line, "\"", 1);
	add(line, bytes, len, "\"\\");
	line_add(line, "\"", 1);
}
