/* SPDX-License-Identifier: MIT */
#include "client/stat_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/stat_row.h"
#include "client/table.h"
#include "fail_msg.h"

#define NS_PER_S 1000000000u

/* An event, with its rows in what stat_rows_add() has made. */
struct group {
	struct stat_row *rows;
	size_t nr;
	struct stat_row sum;
};

/* What the functions below share while they put one table. */
struct putting {
	const struct stat_view *view;
	struct table table;
	bool several, threads;
};

/* ---- Cells ---- */

static void put_number(struct table *table, double number)
{
	if (isnan(number))
		table_cell(table, "-");
	else
		table_cell(table, "%.1f", number);
}

static void put_duration(struct table *table, bool is_known, double ns)
{
	if (is_known)
		table_duration(table, (uint64_t)ns);
	else
		table_cell(table, "-");
}

static void put_time(struct table *table, uint64_t ns)
{
	const struct tp_utc utc = tp_utc_of((int64_t)(ns / NS_PER_S));

	if (!ns)
		table_cell(table, "-");
	else
		table_cell(table, "%02u:%02u:%02u.%06u", utc.hour, utc.minute, utc.second, (unsigned int)(ns % NS_PER_S / 1000));
}

static void put_thread(struct table *table, const struct stat_row *row)
{
	if (json_member(row->json, "others"))
		table_cell(table, "-");
	else
		table_cell(table, "%llu", (unsigned long long)json_uint64(row->json, "tid"));
	table_cell(table, "%s", json_member(row->json, "others") ? "(others)" : json_text(row->json, "name"));
}

/* What the rows are sorted by, if that is a number; shares are of it. */
static double measure(const struct stat_view *view, const struct stat_row *row)
{
	const double number = view->sort == STAT_BY_RATE ? row->rate : view->sort == STAT_BY_AVERAGE ? row->average : (double)row->hits;

	return isnan(number) ? 0 : number;
}

static const char *share_head(const struct stat_view *view)
{
	return view->sort == STAT_BY_RATE ? "% RATE" : view->sort == STAT_BY_AVERAGE ? "% AVG" : "% HITS";
}

/* ---- Rows ---- */

static void put_row(struct putting *putting, const struct stat_row *row, const struct stat_row *sum, const char *process)
{
	struct table *table = &putting->table;
	const double of = measure(putting->view, sum), part = of > 0 ? measure(putting->view, row) / of : 0;

	if (!table_row(table))
		return;
	table_cell(table, "%s", row->event);
	if (putting->several)
		table_cell(table, "%s", process);
	if (putting->threads)
		put_thread(table, row);
	table_cell(table, "%llu", (unsigned long long)row->hits);
	put_number(table, row->rate);
	put_number(table, row->average);
	put_duration(table, row->intervals, row->min);
	put_duration(table, row->intervals, row->mean);
	put_duration(table, row->intervals, row->max);
	put_time(table, row->first_ns);
	put_time(table, row->last_ns);
	if (putting->several || putting->threads) {
		const bool is_part = row != sum && of > 0;
		if (is_part)
			table_cell(table, "%.1f", part * 100);
		else
			table_cell(table, "%s", "");
		table_bar(table, is_part ? part : 0);
	}
}

static const char *row_title(const struct stat_row *row)
{
	return row->counted ? counted_title(row->counted) : "all";
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct stat_row *one = a, *other = b;
	const double x = measure(data, one), y = measure(data, other);

	if (((const struct stat_view *)data)->sort != STAT_BY_NAME && x != y)
		return x < y ? 1 : -1;
	return one->counted < other->counted ? -1 : one->counted > other->counted;
}

static void put_group(struct putting *putting, struct group *group)
{
	const bool has_sum = group->nr > 1 && !putting->threads;
	const bool folded = has_sum && putting->view->folded;
	struct stat_row *rows = group->rows;

	if (has_sum)
		put_row(putting, &group->sum, &group->sum, "all");
	qsort_r(rows, group->nr, sizeof(*rows), compare_rows, (void *)putting->view);
	for (size_t i = 0; i < group->nr && !folded; i++)
		put_row(putting, &rows[i], has_sum || putting->threads ? &group->sum : &rows[i], row_title(&rows[i]));
}

/* ---- Groups ---- */

static int compare_groups(const void *a, const void *b, void *data)
{
	const struct group *one = a, *other = b;
	const double x = measure(data, &one->sum), y = measure(data, &other->sum);

	if (((const struct stat_view *)data)->sort != STAT_BY_NAME && x != y)
		return x < y ? 1 : -1;
	return strcmp(one->sum.event, other->sum.event);
}

static struct group *groups_of(struct stat_rows *rows, size_t *nr)
{
	struct group *groups = calloc(rows->nr + 1, sizeof(*groups));

	*nr = 0;
	for (size_t i = 0; i < rows->nr && groups; i++) {
		struct stat_row *row = &rows->all[i];
		if (i == 0 || strcmp(row->event, row[-1].event) != 0)
			groups[(*nr)++] = (struct group){.rows = row, .sum = {.event = row->event}};
		groups[*nr - 1].nr++;
		stat_row_add(&groups[*nr - 1].sum, row);
	}
	return groups;
}

/* ---- The table ---- */

static size_t make_columns(const struct putting *putting, struct table_column columns[TABLE_COLUMNS])
{
	static const char intervals[] = "between two hits";
	size_t nr = 0;

	columns[nr++] = (struct table_column){"EVENT", NULL, TABLE_TEXT, 0};
	if (putting->several)
		columns[nr++] = (struct table_column){"PROCESS", NULL, TABLE_TEXT, 0};
	if (putting->threads) {
		columns[nr++] = (struct table_column){"TID", NULL, TABLE_NUMBER, 0};
		columns[nr++] = (struct table_column){"THREAD", NULL, TABLE_TEXT, 1};
	}
	columns[nr++] = (struct table_column){"HITS", NULL, TABLE_NUMBER, 0};
	columns[nr++] = (struct table_column){"RATE/s", NULL, TABLE_NUMBER, 0};
	columns[nr++] = (struct table_column){"AVG/s", NULL, TABLE_NUMBER, 3};
	columns[nr++] = (struct table_column){"MIN", intervals, TABLE_NUMBER, 5};
	columns[nr++] = (struct table_column){"MEAN", intervals, TABLE_NUMBER, 4};
	columns[nr++] = (struct table_column){"MAX", intervals, TABLE_NUMBER, 6};
	columns[nr++] = (struct table_column){"FIRST", NULL, TABLE_TEXT, TABLE_SPARE + 1};
	columns[nr++] = (struct table_column){"LAST", NULL, TABLE_TEXT, TABLE_SPARE};
	if (putting->several || putting->threads) {
		columns[nr++] = (struct table_column){share_head(putting->view), NULL, TABLE_NUMBER, 1};
		columns[nr++] = (struct table_column){"", NULL, TABLE_BAR, 2};
	}
	return nr;
}

bool stat_events_put(const struct stat_view *view, const struct statistics *statistics, bool threads, struct lines *to, size_t width,
		     size_t height)
{
	struct putting putting = {.view = view, .several = statistics_are_of_several(statistics), .threads = threads};
	struct table_column columns[TABLE_COLUMNS];
	struct stat_rows rows = {.all = NULL};
	struct group *groups;
	size_t nr;

	if (!stat_rows_add(&rows, statistics, threads) || !(groups = groups_of(&rows, &nr))) {
		stat_rows_free(&rows);
		return fail_no_memory();
	}
	qsort_r(groups, nr, sizeof(*groups), compare_groups, (void *)view);
	table_begin(&putting.table, columns, make_columns(&putting, columns), width, height);
	for (size_t i = 0; i < nr; i++)
		put_group(&putting, &groups[i]);
	const bool good = table_end(&putting.table, to);
	free(groups);
	stat_rows_free(&rows);
	return good;
}
