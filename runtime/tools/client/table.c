/* SPDX-License-Identifier: MIT */
#include "client/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/clean.h"
#include "fail_msg.h"

#define GAP 2        /* between columns */
#define BAR_MIN 8u
#define BAR_MAX 40u
#define TEXT_SHORT 24u /* to which texts are cut before columns that count go */
#define TEXT_MIN 8u
#define CUT ".."

/* ---- Rows ---- */

void table_begin(struct table *table, const struct table_column *columns, size_t nr, size_t width, size_t height)
{
	*table = (struct table){.columns = columns, .nr_columns = nr, .width = width, .height = height};
	table->failed = !lines_add(&table->text, "", 1); /* the cell that was not given */
}

/* With one for what is below. */
static size_t cells_of_row(const struct table *table)
{
	return table->nr_columns + 1;
}

static bool make_room(struct table *table)
{
	if (table->nr_rows < table->room)
		return true;
	const size_t room = table->room ? 2 * table->room : 32;
	size_t *cells = reallocarray(table->cells, room, cells_of_row(table) * sizeof(*cells));
	if (!cells)
		return false;
	table->cells = cells;
	table->room = room;
	return true;
}

bool table_row(struct table *table)
{
	/* What is below rows is not known yet: rows that then find no room are counted later. */
	if (table->failed || (table->height && table->nr_rows >= table->height)) {
		table->nr_more++;
		return false;
	}
	if (!make_room(table)) {
		table->failed = true;
		return false;
	}
	memset(&table->cells[table->nr_rows++ * cells_of_row(table)], 0, cells_of_row(table) * sizeof(*table->cells));
	table->cell = 0;
	return true;
}

static void set_cell(struct table *table, size_t cell, const char *text)
{
	if (table->failed || cell > table->nr_columns)
		return;
	table->cells[(table->nr_rows - 1) * cells_of_row(table) + cell] = table->text.len;
	table->failed = !lines_add(&table->text, text, strlen(text) + 1);
}

void table_cell(struct table *table, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	const int len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0) {
		table->failed = true;
		return;
	}
	for (char *tab = clean(text); (tab = strchr(tab, '\t')) != NULL;)
		*tab = ' ';
	set_cell(table, table->cell++, text);
	free(text);
}

const char *table_duration_text(char *text, size_t size, uint64_t ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if ((double)ns >= units[i].ns) {
			snprintf(text, size, "%.2f %s", (double)ns / units[i].ns, units[i].name);
			return text;
		}
	}
	snprintf(text, size, "%llu ns", (unsigned long long)ns);
	return text;
}

void table_duration(struct table *table, uint64_t ns)
{
	char text[32];

	table_cell(table, "%s", table_duration_text(text, sizeof(text), ns));
}

void table_bar(struct table *table, double part)
{
	table_cell(table, "%.6f", part > 1 ? 1 : part > 0 ? part : 0);
}

void table_below(struct table *table, const char *lines)
{
	set_cell(table, table->nr_columns, lines);
}

static const char *cell_text(const struct table *table, size_t row, size_t cell)
{
	return table->text.text + table->cells[row * cells_of_row(table) + cell];
}

/* ---- Widths ---- */

size_t table_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* Bytes of the text that so many columns show. */
static size_t bytes_of_width(const char *text, size_t width)
{
	size_t len = 0;

	for (; text[len]; len++) {
		if (((unsigned char)text[len] & 0xc0) != 0x80 && width-- == 0)
			break;
	}
	return len;
}

struct layout {
	size_t widths[TABLE_COLUMNS];
	bool left_out[TABLE_COLUMNS];
	size_t nr_rows; /* that fit */
};

static void measure(const struct table *table, struct layout *layout)
{
	for (size_t c = 0; c < table->nr_columns; c++) {
		size_t *width = &layout->widths[c];
		*width = table_width(table->columns[c].head);
		if (table->columns[c].kind == TABLE_BAR) {
			*width = BAR_MIN > *width ? BAR_MIN : *width;
			continue;
		}
		for (size_t r = 0; r < layout->nr_rows; r++) {
			const size_t wide = table_width(cell_text(table, r, c));
			*width = wide > *width ? wide : *width;
		}
	}
}

static size_t total(const struct table *table, const struct layout *layout)
{
	size_t sum = 0;

	for (size_t c = 0; c < table->nr_columns; c++)
		sum += layout->left_out[c] ? 0 : layout->widths[c] + (sum ? GAP : 0);
	return sum;
}

static bool fits(const struct table *table, const struct layout *layout)
{
	return !table->width || total(table, layout) <= table->width;
}

/* Of those that are at least so spare, the first to go. False: there is none. */
static bool leave_out_one(const struct table *table, struct layout *layout, unsigned int spare)
{
	size_t found = 0;

	for (size_t c = 1; c < table->nr_columns; c++) {
		if (!layout->left_out[c] && table->columns[c].spare >= spare &&
		    (!found || table->columns[c].spare >= table->columns[found].spare))
			found = c;
	}
	layout->left_out[found] = found != 0;
	return found != 0;
}

/* The longest texts first. */
static void cut_texts(const struct table *table, struct layout *layout, size_t least)
{
	while (!fits(table, layout)) {
		size_t *longest = NULL;
		for (size_t c = 0; c < table->nr_columns; c++) {
			if (table->columns[c].kind == TABLE_TEXT && !layout->left_out[c] && layout->widths[c] > least &&
			    (!longest || layout->widths[c] > *longest))
				longest = &layout->widths[c];
		}
		if (!longest)
			return;
		--*longest;
	}
}

static void widen_bars(const struct table *table, struct layout *layout)
{
	for (size_t c = 0; c < table->nr_columns; c++) {
		if (table->columns[c].kind != TABLE_BAR || layout->left_out[c])
			continue;
		const size_t left = table->width ? table->width - total(table, layout) : BAR_MAX;
		const size_t most = layout->widths[c] > BAR_MAX ? layout->widths[c] : BAR_MAX;
		layout->widths[c] = left < most - layout->widths[c] ? layout->widths[c] + left : most;
	}
}

static void lay_out(const struct table *table, struct layout *layout)
{
	measure(table, layout);
	while (!fits(table, layout) && leave_out_one(table, layout, TABLE_SPARE))
		continue;
	cut_texts(table, layout, TEXT_SHORT);
	while (!fits(table, layout) && leave_out_one(table, layout, 1))
		continue;
	cut_texts(table, layout, TEXT_MIN);
	while (!fits(table, layout) && leave_out_one(table, layout, 0))
		continue;
	cut_texts(table, layout, 1);
	if (fits(table, layout))
		widen_bars(table, layout);
}

/* ---- Lines ---- */

static bool put(struct lines *to, const char *text)
{
	return lines_add(to, text, strlen(text));
}

static bool put_many(struct lines *to, char c, size_t nr)
{
	bool good = true;

	while (good && nr-- > 0)
		good = lines_add(to, &c, 1);
	return good;
}

static bool put_cut(struct lines *to, const char *text, size_t width)
{
	const size_t wide = table_width(text);

	if (wide <= width)
		return put(to, text);
	const size_t shown = width > strlen(CUT) ? width - strlen(CUT) : 0;
	return lines_add(to, text, bytes_of_width(text, shown)) && lines_add(to, CUT, width < strlen(CUT) ? width : strlen(CUT));
}

/* blanks: that are behind the last cell, and are put only where another follows. */
static bool put_padded(struct lines *to, const char *text, size_t width, enum table_kind kind, size_t *blanks)
{
	const size_t wide = table_width(text) < width ? table_width(text) : width;
	const size_t before = kind == TABLE_NUMBER ? width - wide : 0;

	if (!wide) {
		*blanks += width;
		return true;
	}
	const bool good = put_many(to, ' ', *blanks + before) && put_cut(to, text, width);
	*blanks = width - before - wide;
	return good;
}

static const char *bar(char bar_text[BAR_MAX + 1], const char *part, size_t width)
{
	const double length = strtod(part, NULL) * (double)(width < BAR_MAX ? width : BAR_MAX);
	const size_t nr = length > 0 && length < 1 ? 1 : (size_t)(length + 0.5);

	memset(bar_text, '#', nr);
	bar_text[nr] = '\0';
	return bar_text;
}

/* row: NULL for the heads. */
static bool put_line(const struct table *table, const struct layout *layout, const size_t *row, struct lines *to)
{
	char bar_text[BAR_MAX + 1];
	size_t blanks = 0;
	bool good = true;

	for (size_t c = 0; c < table->nr_columns && good; c++) {
		const struct table_column *column = &table->columns[c];
		const char *text = row ? cell_text(table, *row, c) : column->head;
		if (layout->left_out[c])
			continue;
		if (row && column->kind == TABLE_BAR)
			text = bar(bar_text, text, layout->widths[c]);
		good = put_padded(to, text, layout->widths[c], column->kind, &blanks);
		blanks += GAP;
	}
	return good && lines_add(to, "\n", 1);
}

static bool has_groups(const struct table *table, const struct layout *layout)
{
	for (size_t c = 0; c < table->nr_columns; c++) {
		if (table->columns[c].group && !layout->left_out[c])
			return true;
	}
	return false;
}

static bool has_heads(const struct table *table)
{
	for (size_t c = 0; c < table->nr_columns; c++) {
		if (table->columns[c].head[0])
			return true;
	}
	return false;
}

/* "--- GROUP ---". A name that is wider than its columns begins in the blanks in front of them, and ends where they end. */
static bool put_group(struct lines *to, const char *group, size_t blanks, size_t width)
{
	const size_t wide = table_width(group), around = wide + 2 < width ? width - wide - 2 : 0;
	const size_t room = width + (blanks > GAP ? blanks - GAP : 0);

	if (wide + 2 > width)
		return put_many(to, ' ', blanks + width - (wide < room ? wide : room)) && put_cut(to, group, room);
	return put_many(to, ' ', blanks) && put_many(to, '-', around / 2) && put(to, " ") && put(to, group) && put(to, " ") &&
	       put_many(to, '-', around - around / 2);
}

static bool put_groups(const struct table *table, const struct layout *layout, struct lines *to)
{
	size_t blanks = 0;
	bool good = true;

	for (size_t c = 0; c < table->nr_columns && good;) {
		const char *group = table->columns[c].group;
		size_t width = 0;
		for (; c < table->nr_columns && table->columns[c].group == group; c++)
			width += layout->left_out[c] ? 0 : layout->widths[c] + GAP;
		if (group && width) {
			good = put_group(to, group, blanks, width - GAP);
			blanks = GAP;
		} else {
			blanks += width;
		}
	}
	return good && lines_add(to, "\n", 1);
}

static size_t nr_lines(const char *text)
{
	size_t nr = *text != '\0';

	for (; *text; text++)
		nr += *text == '\n' && text[1];
	return nr;
}

/* Whole rows only; where some are missing, a line says how many. */
static size_t rows_that_fit(const struct table *table)
{
	size_t used = (size_t)has_heads(table) + has_groups(table, &(struct layout){.nr_rows = 0}), nr;
	size_t fit_with_more = 0;

	for (nr = 0; nr < table->nr_rows; nr++) {
		used += 1 + nr_lines(cell_text(table, nr, table->nr_columns));
		if (table->height && used > table->height)
			break;
		if (!table->height || used < table->height)
			fit_with_more = nr + 1;
	}
	return nr == table->nr_rows && !table->nr_more ? nr : fit_with_more;
}

static bool put_below(struct lines *to, const char *text, size_t width)
{
	bool good = true;

	while (*text && good) {
		const size_t len = strcspn(text, "\n");
		good = table_line(to, width, "%.*s", (int)len, text);
		text += len + (text[len] == '\n');
	}
	return good;
}

static bool put_table(const struct table *table, struct lines *to)
{
	struct layout layout = {.nr_rows = rows_that_fit(table)};

	lay_out(table, &layout);
	bool good = (!has_groups(table, &layout) || put_groups(table, &layout, to)) && (!has_heads(table) || put_line(table, &layout, NULL, to));
	for (size_t r = 0; r < layout.nr_rows && good; r++)
		good = put_line(table, &layout, &r, to) && put_below(to, cell_text(table, r, table->nr_columns), table->width);
	const size_t more = table->nr_more + table->nr_rows - layout.nr_rows;
	return good && (!more || table_line(to, table->width, "... %zu more", more));
}

bool table_end(struct table *table, struct lines *to)
{
	const bool good = !table->failed && put_table(table, to);

	lines_free(&table->text);
	free(table->cells);
	*table = (struct table){.columns = NULL};
	return good || fail_no_memory();
}

bool table_line(struct lines *to, size_t width, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	const int len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return false;
	clean(text);
	const bool good = (width ? put_cut(to, text, width) : put(to, text)) && lines_add(to, "\n", 1);
	free(text);
	return good;
}
