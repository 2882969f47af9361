/* SPDX-License-Identifier: MIT */
/* c_text.h - the pieces of a print fmt, as C has them: a format in quotes, and its arguments behind commas. */
#ifndef C_TEXT_H
#define C_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *begin, *end;
};

bool is_word(char c);
bool span_has(struct span text, const char *what);

/* The end of the literal that begins at at. */
const char *skip_quoted(const char *at, const char *end);
const char *skip_blanks(const char *at, const char *end);

/*
 * The format's last quote. As in the kernel's format files, those inside of it
 * have no backslash; so it is the first one behind which there are as many arguments as it
 * wants. NULL where there is none.
 */
const char *format_end(struct span text);

/* The end of the conversion behind a "%", and how many arguments its stars take. */
const char *conversion_end(const char *at, const char *end, int *stars);

#define MAX_CONVERSIONS 128

/* Behind the format: split at the commas that are in no parentheses. Returns how many; -1: there is no room. */
int split_arguments(struct span text, struct span *found, int room);

#endif /* C_TEXT_H */
