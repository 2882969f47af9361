/* SPDX-License-Identifier: MIT */
/*
 * print/line.c - see print.h.
 */
#include "base/text.h"
#include "print/print.h"

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f;
}

static bool is_plain_word(const char *bytes)
{
	const uint64_t each = 0x0101010101010101u;
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	uint64_t no_del = word ^ each * 0x7f;
	uint64_t below_blank = (word - each * ' ') & ~word;
	uint64_t is_del = (no_del - each) & ~no_del;
	/* The top bit of a byte says that it, or one before it, is such; or that it is no ASCII. */
	return !((below_blank | is_del | word) & each * 0x80);
}

/* How many bytes from the first on are plain; eight at a time, as nearly all are. */
static size_t plain_run(const char *bytes, size_t len)
{
	const size_t word = sizeof(uint64_t);
	size_t i = 0;

	while (i + word <= len && is_plain_word(bytes + i))
		i += word;
	if (i + word > len && len >= word && is_plain_word(bytes + len - word))
		return len;
	while (i < len && is_plain((unsigned char)bytes[i]))
		i++;
	return i;
}

/* Appends c so that it can't end the line or move the cursor. */
static void put_escaped(struct trace_seq *line, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";

	if (c == '\n')
		tp_line_bytes(line, "\\n", 2);
	else
		tp_line_bytes(line, (char[]){'\\', 'x', digits[c >> 4], digits[c & 15]}, 4);
}

static void put_text(struct trace_seq *line, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end && !line->full) {
		size_t run = plain_run(text, (size_t)(end - text));
		tp_line_bytes(line, text, run);
		text += run;
		if (text == end)
			return;
		const size_t shown = tp_printable_char(text, (size_t)(end - text));
		if (shown)
			tp_line_bytes(line, text, shown);
		else
			put_escaped(line, (unsigned char)*text);
		text += shown ? shown : 1;
	}
}

void tp_line_event(struct trace_seq *line, struct trace_seq *text, const struct tp_event *event,
		   const struct trace_entry *entry)
{
	tp_line_bytes(line, event->system, strlen(event->system));
	tp_line_bytes(line, ":", 1);
	tp_line_bytes(line, event->name, strlen(event->name));
	tp_line_bytes(line, ": ", 2);
	event->print(text, entry);
	if (text->len && text->buffer[text->len - 1] == '\n' && !text->full)
		text->len--;
	put_text(line, text->buffer, text->len);
	line->full = line->full || text->full;
}
