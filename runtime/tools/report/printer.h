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

#include "read/formats.h"

/* How much is printed at a time. */
#define PRINTER_ITEMS 4096u
#define PRINTER_RECORDS ((size_t)1 << 20)

struct printer_item {
	const struct event_format *format; /* NULL: this one is not to be printed */
	size_t trace_nr;
	const unsigned char *record; /* aligned to 8 bytes */
	uint32_t size;
	const char *text; /* what comes of it, until the next call; NULL: it can't be printed */
	size_t len;
};

struct printer;

/* NULL, and a message, where it can't be. The traces' formats have been read, and stay. */
struct printer *printer_new(size_t nr_traces);
void printer_free(struct printer *printer);

/*
 * Prints items, at most PRINTER_ITEMS with records of at most PRINTER_RECORDS bytes, each padded to 16 more. Returns how
 * many have been printed: at least one, but not all where there is no room for so much text.
 */
size_t printer_print(struct printer *printer, struct printer_item *items, size_t nr);

#endif /* PRINTER_H */
