/* SPDX-License-Identifier: MIT */
/*
 * printer.h - a process in which TP_printk's texts are made. The formats come with a trace, and anybody may have written
 * these: if it crashes on one, or takes for ever, then only this process does. It has no rights and no files.
 */
#ifndef PRINTER_H
#define PRINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "read/formats.h"

/* How much is printed at a time. */
#define PRINTER_ITEMS 4096u
#define PRINTER_RECORDS ((size_t)1 << 20)

struct printer_item {
	const struct event_format *format; /* NULL: this one is not to be printed */
	size_t trace_nr;
	const unsigned char *record; /* in the printer's memory for records */
	uint32_t size;
	const char *text; /* what comes of it, until the next call; NULL: it can't be printed */
	size_t len;
};

struct printer;

/* NULL, and a message, where it can't be. The traces' formats have been read, and stay. */
struct printer *printer_new(size_t nr_traces);
void printer_free(struct printer *printer);

/*
 * PRINTER_RECORDS bytes, for the records of items. The other process may write there, too: so a record is copied before anybody
 * but a printer looks at it.
 */
unsigned char *printer_records(struct printer *printer);

/* What a record of so many bytes takes there: it is aligned to 8 bytes, and zeros are behind it, where texts end that have no NUL. */
#define PRINTER_PADDING 16u
#define PRINTER_ROOM(size) (((size_t)(size) + PRINTER_PADDING + 7) & ~(size_t)7)

/* Copies a record to where it has so much room. */
static inline const unsigned char *printer_record(unsigned char *at, const unsigned char *record, uint32_t size)
{
	memcpy(at, record, size);
	memset(at + size, 0, PRINTER_PADDING);
	return at;
}

/*
 * Prints items, at most PRINTER_ITEMS. Returns how many have been printed: at least one, but not all where there is no room for so
 * much text.
 */
size_t printer_print(struct printer *printer, struct printer_item *items, size_t nr);

#endif /* PRINTER_H */
