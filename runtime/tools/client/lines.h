/* SPDX-License-Identifier: MIT */
/* lines.h - a text that grows, within bounds. */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stddef.h>

#define LINES_MAX ((size_t)64 << 20) /* a full histogram as JSON is shorter */

/* Zeros are an empty one. */
struct lines {
	char *text; /* ends in a NUL; NULL: nothing was added yet */
	size_t len, size;
};

/* False: there is no memory, or it would be longer than LINES_MAX; then it stays as it is. */
bool lines_add(struct lines *text, const char *more, size_t len);

void lines_free(struct lines *text);

#endif /* LINES_H */
