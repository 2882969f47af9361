/* SPDX-License-Identifier: MIT */
/* line.h - a line of bounded length, as it is shown: nothing in it ends a line or moves the cursor. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of an event; what is longer is cut off, and ends in "...". */
#define LINE_BYTES ((size_t)256 << 10)
#define LINE_DOTS "..."
#define LINE_ROOM (LINE_BYTES + sizeof(LINE_DOTS)) /* and a byte for who ends the line */

struct line {
	char *bytes; /* LINE_ROOM */
	size_t len;
	bool is_full;
};

/* False, and a message, where there is no memory. */
bool line_init(struct line *line);

/* For line_add(): they have no room, nor has what comes later. */
void line_cut(struct line *line, const char *bytes);

static inline void line_add(struct line *line, const char *bytes, size_t len)
{
	if (line->is_full || len > LINE_BYTES - line->len) {
		line_cut(line, bytes);
		return;
	}
	memcpy(line->bytes + line->len, bytes, len);
	line->len += len;
}

void line_printf(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As many as nr, none below 0. */
void line_add_blanks(struct line *line, int nr);

/* As "%*lld" does: a width below 0 has the blanks behind the number. */
void line_add_number(struct line *line, int64_t number, int width);

/* Control characters become \n or \x1b; other bytes stay as they are. */
void line_add_escaped(struct line *line, const char *bytes, size_t len);

/* The same in quotes; quotes and backslashes in it get a backslash. */
void line_add_quoted(struct line *line, const char *bytes, size_t len);

#endif /* LINE_H */
