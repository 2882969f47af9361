/* SPDX-License-Identifier: MIT */
/*
 * table.h - rows in columns that are as wide as what is in them, within a width and a height. Of what does not fit, columns
 * are left out, then texts are cut, as ".."; a number is never cut. Rows that do not fit are counted in a last line.
 *
 *	table_begin(&table, columns, nr, width, height);
 *	for (each row, the most important first)
 *		if (table_row(&table)) {
 *			table_cell(&table, "%s", name);
 *			table_cell(&table, "%lu", hits);
 *			table_bar(&table, hits / most);
 *		}
 *	good = table_end(&table, &text);
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/lines.h"

#define TABLE_COLUMNS 24

enum table_kind {
	TABLE_TEXT,   /* to the left */
	TABLE_NUMBER, /* to the right */
	TABLE_BAR,    /* takes what is left of the width, within bounds */
};

struct table_column {
	const char *head;  /* "": none; where no column has one, there is no line of them */
	const char *group; /* stands once above neighbours that have the same; or NULL */
	enum table_kind kind;

	/*
	 * Which column goes first, where they do not fit: that with the largest. Those of TABLE_SPARE and more go before any
	 * text is cut; one of 0 goes last.
	 */
	unsigned int spare;
};

#define TABLE_SPARE 10

struct table {
	const struct table_column *columns;
	size_t nr_columns, width, height;
	struct lines text; /* of all cells, with a NUL behind each */
	size_t *cells;     /* where they begin: those of the columns, and what stands below the row */
	size_t nr_rows, room, cell;
	size_t nr_more;    /* rows that did not fit */
	bool failed;
};

/* columns must stay. width, height: of all lines, heads included; 0: without bounds. */
void table_begin(struct table *table, const struct table_column *columns, size_t nr, size_t width, size_t height);

/* Begins a row. False: it is only counted, and gets no cells. */
bool table_row(struct table *table);

/* The row's next cell. Control characters become question marks. */
void table_cell(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same of nanoseconds, in the unit that suits them. */
void table_duration(struct table *table, uint64_t ns);
const char *table_duration_text(char *text, size_t size, uint64_t ns);

/* The same for a column of bars: from 0 to 1. */
void table_bar(struct table *table, double part);

/* Lines below the row, which ends so. Each but the last ends in a newline. */
void table_below(struct table *table, const char *lines);

/* Adds the table to the text, and frees it. False, and a message: no memory. */
bool table_end(struct table *table, struct lines *to);

/* Adds one line, which is cut at the width (0: none). False: no memory. */
bool table_line(struct lines *to, size_t width, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The columns of a terminal that a text takes: its characters, where it is UTF-8. */
size_t table_width(const char *text);

#endif /* TABLE_H */
