/* SPDX-License-Identifier: MIT */
/* text.h - a text of bounded length, as it is shown: nothing in it ends a line or moves the cursor. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Of an event; what is longer is cut off, and ends in "...". */
#define TEXT_MAX ((size_t)256 << 10)

struct text {
	char *bytes; /* TEXT_MAX, and room for the dots */
	size_t len;
	bool is_full;
};

/* False, and a message, where there is no memory. */
bool text_init(struct text *text);

void text_add(struct text *text, const char *bytes, size_t len);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Control characters become \n or \x1b; other bytes stay as they are. */
void text_add_escaped(struct text *text, const char *bytes, size_t len);

/* The same in quotes; quotes and backslashes in it get a backslash. */
void text_add_quoted(struct text *text, const char *bytes, size_t len);

#endif /* TEXT_H */
