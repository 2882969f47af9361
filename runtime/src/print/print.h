/* SPDX-License-Identifier: MIT */
/*
 * print/print.h - an event as a line of text, for sinks that write such.
 *
 * What does not fit into the line sets its full.
 */
#ifndef TP_PRINT_LINE_H
#define TP_PRINT_LINE_H

#include <stdint.h>
#include <string.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

/* What a line ends in that is cut. */
#define TP_ELLIPSIS "..."

/* Appends what fits. */
static inline void tp_line_bytes(struct trace_seq *line, const char *bytes, size_t len)
{
	size_t room = line->size - line->len - 1;

	if (len > room) {
		len = room;
		line->full = true;
	}
	memcpy(line->buffer + line->len, bytes, len);
	line->len += len;
}

/* Writes n in decimal digits to where it ends at end, which leaves room for 20; returns where it begins. In printf.c. */
char *tp_digits_before(char *end, uint64_t n);

/* The same of base 16. */
char *tp_hex_before(char *end, uint64_t n, bool upper);

/*
 * Appends "SYSTEM:NAME: " and the text of TP_printk, which is printed to text,
 * an empty one, first: control characters as \n and \xHH, without a newline at its end.
 */
void tp_line_event(struct trace_seq *line, struct trace_seq *text, const struct tp_event *event,
		   const struct trace_entry *entry);

#endif /* TP_PRINT_LINE_H */
