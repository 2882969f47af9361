/* SPDX-License-Identifier: MIT */
#include "client/hist_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/hist_row.h"
#include "client/table.h"
#include "fail_msg.h"

typedef unsigned long long number;

/* What the functions below share while they put one histogram. */
struct putting {
	const struct json *hist; /* of several, the first: keys and values are the same in all */
	struct hist_rows rows;
	struct table table;
	bool has_hits;
	uint64_t totals[HIST_VALUES], largest[HIST_VALUES];
};

/* ---- Columns ---- */

static bool is_modified(const struct json *item, const char *modifier)
{
	return strcmp(json_text(item, "modifier"), modifier) == 0;
}

/* A number alone stands to the right. */
static bool is_number(const struct json *hist, size_t place)
{
	for (const struct json *entry = json_first(hist, "entries"); entry; entry = entry->next) {
		const struct json *key = json_first(entry, "keys");
		for (size_t i = 0; i < place && key; i++)
			key = key->next;
		const struct json *value = json_member(key, "value");
		if (!value || value->kind != JSON_NUMBER || json_member(key, "name") || json_member(key, "comm") || json_member(key, "symbol"))
			return false;
	}
	return true;
}

/* The heads are names of the process's, which stay as long as the table. */
static size_t make_columns(const struct putting *putting, struct table_column columns[TABLE_COLUMNS])
{
	size_t nr = 0;

	for (const struct json *key = json_first(putting->hist, "keys"); key && nr < TABLE_COLUMNS / 3; key = key->next, nr++)
		columns[nr] = (struct table_column){json_text(key, "name"), NULL, is_number(putting->hist, nr) ? TABLE_NUMBER : TABLE_TEXT, 0};
	if (putting->has_hits)
		columns[nr++] = (struct table_column){"HITS", NULL, TABLE_NUMBER, 0};
	size_t i = 0;
	for (const struct json *value = json_first(putting->hist, "values"); value && i < HIST_VALUES; value = value->next, i++) {
		const enum table_kind kind = is_modified(value, "graph") ? TABLE_BAR : TABLE_NUMBER;
		columns[nr++] = (struct table_column){json_text(value, "name"), NULL, kind, 0};
	}
	if (putting->has_hits) {
		columns[nr++] = (struct table_column){"%", NULL, TABLE_NUMBER, 1};
		columns[nr++] = (struct table_column){"", NULL, TABLE_BAR, 2};
	}
	return nr;
}

/* ---- Rows ---- */

static double part_of(uint64_t value, uint64_t of)
{
	return of ? (double)value / (double)of : 0;
}

static void put_value(struct putting *putting, const struct json *item, const struct hist_row *row, size_t i)
{
	struct table *table = &putting->table;
	const int64_t sum = row->sums[i];

	if (is_modified(item, "graph"))
		table_bar(table, part_of((uint64_t)sum, putting->largest[i]));
	else if (is_modified(item, "percent"))
		table_cell(table, "%.2f %%", 100 * part_of((uint64_t)sum, putting->totals[i]));
	else if (is_modified(item, "hex"))
		table_cell(table, "0x%llx", (number)sum);
	else if (row->negative[i])
		table_cell(table, "%lld", (long long)sum);
	else
		table_cell(table, "%llu", (number)sum);
}

static bool put_keys(struct putting *putting, const struct hist_row *row, struct lines *below)
{
	const struct json *item = json_first(putting->hist, "keys"), *key = json_first(row->entry, "keys");
	bool good = true;

	for (; item && good; item = item->next, key = key ? key->next : NULL) {
		const struct json *value = json_member(key, "value");
		struct lines text = {.text = NULL};
		good = hist_key_put(&text, item, key);
		table_cell(&putting->table, "%s", text.text ? text.text : "");
		lines_free(&text);
		if (good && value && value->kind == JSON_ARRAY)
			good = hist_stack_put(below, key);
	}
	return good;
}

/* "max worst: 1200  id: 6": what onmax() and onchange() compare with, and what save() has saved. */
static bool put_tracked(const struct hist_row *row, struct lines *below)
{
	bool good = true;

	for (const struct json *one = json_first(row->entry, "tracked"); one && good; one = one->next) {
		const char *what = json_member(one, "max") ? "max" : "changed";
		char line[256];
		int len = snprintf(line, sizeof(line), "    %s %s: %llu", what, json_text(one, "variable"), (number)json_uint64(one, what));
		good = lines_add(below, line, len < (int)sizeof(line) ? (size_t)len : sizeof(line) - 1);
		for (const struct json *saved = json_first(one, "saved"); saved && good; saved = saved->next) {
			const char *text = saved->text ? saved->text : "(a stack)";
			good = lines_add(below, "  ", 2) && lines_add(below, saved->name, strlen(saved->name)) && lines_add(below, ": ", 2) &&
			       lines_add(below, text, strlen(text));
		}
		good = good && lines_add(below, "\n", 1);
	}
	return good;
}

static bool put_row(struct putting *putting, const struct hist_row *row)
{
	struct table *table = &putting->table;
	struct lines below = {.text = NULL};
	size_t i = 0;

	bool good = put_keys(putting, row, &below) && put_tracked(row, &below);
	if (putting->has_hits)
		table_cell(table, "%llu", (number)row->hits);
	for (const struct json *item = json_first(putting->hist, "values"); item && i < HIST_VALUES; item = item->next, i++)
		put_value(putting, item, row, i);
	if (putting->has_hits) {
		table_cell(table, "%.1f", 100 * part_of(row->hits, putting->rows.hits));
		table_bar(table, part_of(row->hits, putting->rows.hits));
	}
	if (below.len)
		table_below(table, below.text);
	lines_free(&below);
	return good;
}

/* ---- A histogram ---- */

static void add_up(struct putting *putting)
{
	for (size_t i = 0; i < putting->rows.nr; i++) {
		for (size_t v = 0; v < HIST_VALUES; v++) {
			const uint64_t sum = (uint64_t)putting->rows.all[i].sums[v];
			putting->totals[v] += sum;
			putting->largest[v] = sum > putting->largest[v] ? sum : putting->largest[v];
		}
	}
}

static bool put_table(struct putting *putting, struct lines *to, size_t width, size_t height)
{
	struct table_column columns[TABLE_COLUMNS];
	bool good = true;

	putting->has_hits = !strstr(json_text(putting->hist, "trigger"), ":nohitcount");
	add_up(putting);
	table_begin(&putting->table, columns, make_columns(putting, columns), width, height);
	for (size_t i = 0; i < putting->rows.nr && good; i++)
		good = !table_row(&putting->table) || put_row(putting, &putting->rows.all[i]);
	return table_end(&putting->table, to) && good;
}

/* The totals are in front of the entries, whose end may not fit. */
static bool put_totals(const struct putting *putting, size_t nr, struct lines *to, size_t width)
{
	char processes[48] = "";

	if (nr > 1)
		snprintf(processes, sizeof(processes), ", of %zu processes", nr);
	return table_line(to, width, "%llu hit%s, %zu entr%s, %llu dropped%s", (number)putting->rows.hits, putting->rows.hits == 1 ? "" : "s",
			  putting->rows.nr, putting->rows.nr == 1 ? "y" : "ies", (number)putting->rows.dropped, processes);
}

static bool put_histogram(const struct json *const *hists, size_t nr, bool sorted, const struct area *area)
{
	struct lines *to = area->text;
	const size_t width = area->width;
	struct putting putting = {.hist = hists[0]};

	/* Columns are those of the one that has entries: types of keys show by them. */
	for (size_t i = 0; i < nr && !json_first(putting.hist, "entries"); i++)
		putting.hist = hists[i];
	const bool good = hist_rows_make(&putting.rows, hists, nr, sorted) &&
			  table_line(to, width, "%s", json_text(putting.hist, "trigger")) && put_totals(&putting, nr, to, width) &&
			  lines_add(to, "\n", 1) && put_table(&putting, to, width, !area->height ? 0 : area->height > 3 ? area->height - 3 : 1);
	hist_rows_free(&putting.rows);
	return good || fail_no_memory();
}

/* ---- Processes ---- */

/* A file has a list of them. NULL: there is none. */
static const struct json *histogram_of(const struct counted *counted)
{
	const struct json *root = &counted->now.root, *hist = root->kind == JSON_ARRAY ? root->first : root;

	return json_member(hist, "trigger") ? hist : NULL;
}

static uint64_t hits_of(const struct counted *counted)
{
	return json_uint64(json_member(histogram_of(counted), "totals"), "hits");
}

static int compare_counted(const void *a, const void *b)
{
	const struct counted *one = *(const struct counted *const *)a, *other = *(const struct counted *const *)b;
	const uint64_t x = hits_of(one), y = hits_of(other);

	return x != y ? (x < y ? 1 : -1) : one < other ? -1 : one > other;
}

/* Which process has how many of the hits. */
static bool put_processes(const struct counted **all, size_t nr, const struct area *area, size_t height)
{
	static const struct table_column columns[] = {
		{"PROCESS", NULL, TABLE_TEXT, 0}, {"HITS", NULL, TABLE_NUMBER, 0}, {"ENTRIES", NULL, TABLE_NUMBER, 1},
		{"%", NULL, TABLE_NUMBER, 2}, {"", NULL, TABLE_BAR, 3},
	};
	struct table table;
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += hits_of(all[i]);
	qsort(all, nr, sizeof(const struct counted *), compare_counted);
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), area->width, height);
	for (size_t i = 0; i < nr; i++) {
		if (!table_row(&table))
			continue;
		table_cell(&table, "%s", counted_title(all[i]));
		table_cell(&table, "%llu", (number)hits_of(all[i]));
		table_cell(&table, "%llu", (number)json_uint64(json_member(histogram_of(all[i]), "totals"), "entries"));
		table_cell(&table, "%.1f", 100 * part_of(hits_of(all[i]), sum));
		table_bar(&table, part_of(hits_of(all[i]), sum));
	}
	return table_end(&table, area->text);
}

/* ---- Which ---- */


/* A trigger shows "sort=hitcount" also where nothing was said. */
static bool is_sorted(const struct json *hist)
{
	const char *sort = strstr(json_text(hist, "trigger"), ":sort=");

	return sort && strncmp(sort, ":sort=hitcount:", strlen(":sort=hitcount:")) != 0;
}

/* The lines for processes, which are a third at most. 0: none, as there is one only, or no room. */
static size_t lines_for_processes(size_t nr, size_t height)
{
	const size_t wanted = nr + 1, third = height / 3;

	if (nr < 2 || (height && third < 3))
		return 0;
	return !height || wanted < third ? wanted : third;
}

/* Of several, the processes are below the entries. */
static bool put_counted(const struct counted **all, size_t nr, bool sorted, const struct area *area)
{
	const size_t below = lines_for_processes(nr, area->height);
	const struct area above = {.text = area->text, .from = area->from, .width = area->width,
				   .height = area->height ? area->height - below - (below > 0) : 0};
	const struct json **hists = calloc(nr, sizeof(*hists));

	for (size_t i = 0; hists && i < nr; i++)
		hists[i] = histogram_of(all[i]);
	bool good = hists ? put_histogram(hists, nr, sorted, &above) : fail_no_memory();
	free(hists);
	if (good && below)
		good = lines_add(area->text, "\n", 1) && put_processes(all, nr, area, area->height ? below : 0);
	return good;
}

static bool put(const void *data, const struct statistics *statistics, const struct area *area)
{
	const char *definition = ((const struct hist_view *)data)->definition;
	const struct counted **all = calloc(statistics->nr + 1, sizeof(const struct counted *));
	size_t nr = 0;

	for (size_t i = 0; i < statistics->nr && all; i++) {
		if (histogram_of(&statistics->all[i]))
			all[nr++] = &statistics->all[i];
	}
	const bool sorted = strncmp(definition, "sort=", strlen("sort=")) == 0 || strstr(definition, ":sort=");
	const bool good = all ? !nr || put_counted(all, nr, sorted, area) : fail_no_memory();
	free(all);
	return good;
}

struct view hist_view_of(struct hist_view *view)
{
	return (struct view){.put = put, .view = view};
}

bool hist_view_put_list(const struct json *list, struct lines *to, size_t width)
{
	bool good = true;

	for (const struct json *hist = list->kind == JSON_ARRAY ? list->first : NULL; hist && good; hist = hist->next)
		good = (!to->len || lines_add(to, "\n", 1)) && put_histogram(&hist, 1, is_sorted(hist), &(struct area){.text = to, .width = width});
	return good;
}
