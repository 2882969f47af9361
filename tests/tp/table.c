/* SPDX-License-Identifier: MIT */
/*
 * table.c - lays out a table of its standard input, whose lines are rows: name, hits, a bar's part and what stands below, with
 * commas between them. Arguments: the width and the height.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/table.h"

static const struct table_column columns[] = {
	{"EVENT", NULL, TABLE_TEXT, 0},   {"HITS", NULL, TABLE_NUMBER, 0},
	{"MIN", "between hits", TABLE_NUMBER, 2}, {"MAX", "between hits", TABLE_NUMBER, 3},
	{"LAST", NULL, TABLE_TEXT, TABLE_SPARE}, {"", NULL, TABLE_BAR, 4},
};

int main(int argc, char **argv)
{
	struct lines text = {.text = NULL};
	struct table table;
	char line[4096];

	if (argc != 3)
		return 2;
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
	while (fgets(line, sizeof(line), stdin)) {
		char *rest = line;
		line[strcspn(line, "\n")] = '\0';
		if (!table_row(&table))
			continue;
		table_cell(&table, "%s", strsep(&rest, ","));
		table_cell(&table, "%s", strsep(&rest, ","));
		table_cell(&table, "1.00 us");
		table_cell(&table, "123.45 ms");
		table_cell(&table, "11:17:06.000001");
		table_bar(&table, strtod(strsep(&rest, ","), NULL));
		if (rest)
			table_below(&table, rest);
	}
	const bool good = table_end(&table, &text);
	fputs(text.text ? text.text : "", stdout);
	lines_free(&text);
	return !good;
}
