/* SPDX-License-Identifier: MIT */
#include "report/line.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "print/print.h"
#include "print/seq.h"
#include "fail_msg.h"

static const char dots[] = LINE_DOTS;

bool line_init(struct line *line)
{
	*line = (struct line){.bytes = malloc(LINE_ROOM)};
	return line->bytes || fail_no_memory();
}

void line_cut(struct line *line, const char *bytes)
{
	if (line->is_full)
		return;
	memcpy(line->bytes + line->len, bytes, LINE_BYTES - line->len);
	memcpy(line->bytes + LINE_BYTES, dots, strlen(dots));
	line->len = LINE_BYTES + strlen(dots);
	line->is_full = true;
}

void line_printf(struct line *line, const char *format, ...)
{
	char bytes[512];
	va_list values;

	va_start(values, format);
	int len = tp_vsnprintf(bytes, sizeof(bytes), format, values);
	va_end(values);
	line_add(line, bytes, (size_t)len < sizeof(bytes) ? (size_t)len : sizeof(bytes) - 1);
}

void line_add_blanks(struct line *line, int nr)
{
	static const char blanks[] = "                ";

	for (; nr > 0; nr -= (int)strlen(blanks))
		line_add(line, blanks, nr < (int)strlen(blanks) ? (size_t)nr : strlen(blanks));
}

void line_add_number(struct line *line, int64_t number, int width)
{
	char digits[24], *const end = digits + sizeof(digits);
	char *begin = tp_digits_before(end, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);

	if (number < 0)
		*--begin = '-';
	const int len = (int)(end - begin);
	line_add_blanks(line, width - len);
	line_add(line, begin, (size_t)len);
	line_add_blanks(line, -width - len);
}

static void add(struct line *line, const char *bytes, size_t len, const char *with_backslash)
{
	const char *end = bytes + len;

	while (bytes < end && !line->is_full) {
		const char *run = bytes;
		size_t shown = 1;
		while ((run += tp_plain_len(run, (size_t)(end - run))) < end &&
		       (shown = tp_printable_char(run, (size_t)(end - run))) != 0 && !strchr(with_backslash, *run))
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
