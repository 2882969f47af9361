/* SPDX-License-Identifier: MIT */
/*
 * base/buffer.h - a text that grows as it is printed into. All zeros are an
 * empty one.
 */
#ifndef TP_BUFFER_H
#define TP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct tp_buffer {
	char *text; /* NUL-terminated once something was printed */
	size_t len, size;
	bool failed; /* there was no memory, and text is incomplete */
};

void tp_buffer_printf(struct tp_buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for so many bytes after len. False: there was no memory, and the buffer has failed. */
bool tp_buffer_grow(struct tp_buffer *b, size_t more);

void tp_buffer_free(struct tp_buffer *b);

#endif /* TP_BUFFER_H */
