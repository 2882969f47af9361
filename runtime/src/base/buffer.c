/* SPDX-License-Identifier: MIT */
/*
 * base/buffer.c - a text that grows as it is printed into.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

bool tp_buffer_grow(struct tp_buffer *b, size_t more)
{
	size_t size = b->size ? b->size : 256;

	while (size - b->len < more)
		size *= 2;
	if (size == b->size)
		return true;
	char *text = tp_malloc(size);
	if (!text) {
		b->failed = true;
		return false;
	}
	if (b->text)
		memcpy(text, b->text, b->len + 1);
	free(b->text);
	b->text = text;
	b->size = size;
	return true;
}

void tp_buffer_printf(struct tp_buffer *b, const char *fmt, ...)
{
	va_list ap;

	if (b->failed)
		return;
	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		b->failed = true;
		return;
	}
	if (!tp_buffer_grow(b, (size_t)len + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(b->text + b->len, b->size - b->len, fmt, ap);
	va_end(ap);
	b->len += (size_t)len;
}

void tp_buffer_free(struct tp_buffer *b)
{
	free(b->text);
	*b = (struct tp_buffer){.text = NULL};
}
