/* SPDX-License-Identifier: MIT */
/* line.h - a line of bounded length, as it is shown: nothing in it ends a line or moves the cursor. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of an event; what is longer is cut off, and ends in "...". */
#define LINE_BYTES ((size_t)256 << 10)

struct line {
	char *bytes; /* LINE_BYTES, and room for the dots */
	size_t len;
	bool is_full;
};

/* False, and a message, where there is no memory. */
bool line_init(struct line *line);

void line_add(struct line *line, const char *bytes, size_t len);
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
