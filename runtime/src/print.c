/* SPDX-License-Identifier: MIT */
/*
 * print.c - what the TP_printk of an event calls.
 */
#include <stdio.h>
#include <string.h>

#include <tp/print.h>
#include <tp/sink.h>

#include "internal.h"

/*
 * Ends a helper's result, so that the next one's does not continue it. Where
 * there is no room for a NUL of its own, there is none for a next result
 * either: it is the buffer's last NUL, and reads as "".
 */
static const char *end_result(struct trace_seq *p, size_t start)
{
	if (p->len + 1 < p->size)
		trace_seq_putc(p, '\0');
	return p->buffer + start;
}

const char *tp_seq_print_flags(struct trace_seq *p, unsigned long v, const char *delim,
			   const struct trace_print_flags *flags)
{
	size_t start = p->len;
	bool first = true;

	for (; flags->name && v; flags++) {
		if ((v & flags->mask) != flags->mask)
			continue;
		v &= ~flags->mask;
		if (!first && delim)
			trace_seq_puts(p, delim);
		first = false;
		trace_seq_puts(p, flags->name);
	}
	if (v) {
		if (!first && delim)
			trace_seq_puts(p, delim);
		trace_seq_printf(p, "0x%lx", v);
	}
	return end_result(p, start);
}

const char *tp_seq_print_symbolic(struct trace_seq *p, unsigned long v, const struct trace_print_flags *symbols)
{
	size_t start = p->len;

	while (symbols->name && symbols->mask != v)
		symbols++;
	if (symbols->name)
		trace_seq_puts(p, symbols->name);
	if (p->len == start) /* an empty name counts as none, as in the kernel */
		trace_seq_printf(p, "0x%lx", v);
	return end_result(p, start);
}

/* Puts text, which may stand in the buffer behind start, at start and ends it there. */
static void settle(struct trace_seq *p, size_t start, const char *text, size_t len)
{
	if (len > p->size - 1 - start) {
		len = p->size - 1 - start;
		p->full = true;
	}
	memmove(p->buffer + start, text, len);
	p->len = start + len;
	p->buffer[p->len] = '\0';
}

void tp_printk(struct trace_seq *p, size_t start, const char *fmt, ...)
{
	size_t room = p->size - p->len;
	va_list ap;

	/* The arguments may point to what the helpers left between start and len, so the text goes behind first. */
	va_start(ap, fmt);
	int len = vsnprintf(p->buffer + p->len, room, fmt, ap);
	va_end(ap);
	if (len < 0) {
		p->full = true;
		settle(p, start, "", 0);
		return;
	}
	if ((size_t)len < room) {
		settle(p, start, p->buffer + p->len, (size_t)len);
		return;
	}

	/* It may fit once the intermediate results are gone. */
	char *copy = tp_scratch_push((size_t)len + 1);
	if (!copy) {
		settle(p, start, p->buffer + p->len, room - 1);
		p->full = true;
		return;
	}
	/* vsnprintf wrote behind p->len only, and the arguments stand in front of it: they are still whole. */
	va_start(ap, fmt);
	int again = vsnprintf(copy, (size_t)len + 1, fmt, ap);
	va_end(ap);
	settle(p, start, copy, again < 0 ? 0 : (size_t)(again < len ? again : len));
	tp_scratch_pop(copy);
}
