/* SPDX-License-Identifier: MIT */
/*
 * print/seq.c - appending to a bounded string.
 */
#include <string.h>

#include <tp/trace_seq.h>

#include "print/seq.h"

void trace_seq_init(struct trace_seq *s, char *buffer, size_t size)
{
	*s = (struct trace_seq){.buffer = buffer, .size = size};
	buffer[0] = '\0';
}

void trace_seq_vprintf(struct trace_seq *s, const char *fmt, va_list ap)
{
	size_t room = s->size - s->len;
	int len = tp_vsnprintf(s->buffer + s->len, room, fmt, ap);

	if (len < 0) { /* a conversion failed; what vsnprintf left there is nothing to rely on */
		s->buffer[s->len] = '\0';
		s->full = true;
	} else if ((size_t)len >= room) {
		s->len = s->size - 1;
		s->full = true;
	} else {
		s->len += (size_t)len;
	}
}

void trace_seq_printf(struct trace_seq *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	trace_seq_vprintf(s, fmt, ap);
	va_end(ap);
}

void trace_seq_putmem(struct trace_seq *s, const void *bytes, size_t len)
{
	size_t room = s->size - s->len - 1;

	if (len > room) {
		len = room;
		s->full = true;
	}
	if (len)
		memcpy(s->buffer + s->len, bytes, len);
	s->len += len;
	s->buffer[s->len] = '\0';
}

void trace_seq_puts(struct trace_seq *s, const char *str)
{
	trace_seq_putmem(s, str, strlen(str));
}

void trace_seq_putc(struct trace_seq *s, char c)
{
	if (s->len + 1 >= s->size) {
		s->full = true;
		return;
	}
	s->buffer[s->len++] = c;
	s->buffer[s->len] = '\0';
}
