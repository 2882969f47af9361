/* SPDX-License-Identifier: MIT */
#include "client/stat_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "client/stat_row.h"
#include "client/table.h"
#include "fail_msg.h"

#define NS_PER_S 1000000000u
#define LINES_FOR_FIELD 3u /* at least: an empty one, and what is known of it in two */

/* An event, with its rows in what stat_rows_add() has made. */
struct group {
	const struct stat_row *rows;
	size_t nr;
	struct stat_row sum;
};

/* What the functions below share while they put one table. */
struct putting {
	const struct stat_view *view;
	const struct statistics *statistics;
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
	struct stat_row *rows = (struct stat_row *)group->rows;

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

static struct group *groups_of(const struct stat_rows *rows, size_t *nr)
{
	struct group *groups = calloc(rows->nr + 1, sizeof(*groups));

	*nr = 0;
	for (size_t i = 0; i < rows->nr && groups; i++) {
		const struct stat_row *row = &rows->all[i];
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

static bool put_events(const struct stat_view *view, const struct statistics *statistics, bool threads, struct lines *to, size_t width, size_t height)
{
	struct putting putting = {.view = view, .statistics = statistics, .several = statistics->nr > 1 || statistics->targets.several,
				  .threads = threads};
	struct table_column columns[TABLE_COLUMNS];
	struct stat_rows rows = {.all = NULL};
	size_t nr;

	bool good = stat_rows_add(&rows, statistics, threads);
	struct group *groups = good ? groups_of(&rows, &nr) : NULL;
	table_begin(&putting.table, columns, make_columns(&putting, columns), width, height);
	if (groups) {
		qsort_r(groups, nr, sizeof(*groups), compare_groups, (void *)view);
		for (size_t i = 0; i < nr; i++)
			put_group(&putting, &groups[i]);
	}
	good = table_end(&putting.table, to) && groups;
	free(groups);
	stat_rows_free(&rows);
	return good;
}

/* ---- Room ---- */

static size_t nr_lines(const struct lines *text, size_t from)
{
	size_t nr = 0;

	for (size_t i = from; i < text->len; i++)
		nr += text->text[i] == '\n';
	return nr;
}

/* What is left of the height, and is 0 where that is without bounds; SIZE_MAX: nothing. */
static size_t height_left(const struct lines *text, size_t from, size_t height)
{
	const size_t used = height ? nr_lines(text, from) : 0;

	return !height ? 0 : used < height ? height - used : SIZE_MAX;
}

/* ---- Fields ---- */

static const char *number_text(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member && member->kind == JSON_NUMBER ? member->text : "-";
}

/* "count 6, sum 1200, min 100, mean 200, max 300"; for free(), or NULL. */
static char *numbers_text(const struct json *field)
{
	char mean[32] = "-", more[192] = "", *text;

	if (json_member(field, "mean"))
		snprintf(mean, sizeof(mean), "%.10g", json_double(field, "mean"));
	if (json_uint64(field, "nan") || json_uint64(field, "infinite") || json_uint64(field, "negative_infinite"))
		snprintf(more, sizeof(more), "; nan %s, infinite %s, -infinite %s", number_text(field, "nan"), number_text(field, "infinite"),
			 number_text(field, "negative_infinite"));
	const int len = asprintf(&text, "count %s, sum %s, min %s, mean %s, max %s%s", number_text(field, "count"), number_text(field, "sum"),
				 number_text(field, "min"), mean, number_text(field, "max"), more);
	return len < 0 ? NULL : text;
}

/* "count 6, distinct 2" */
static char *values_text(const struct json *field)
{
	const unsigned long long other = json_uint64(field, "other"), rest = json_uint64(field, "rest");
	char not_shown[64] = "", not_known[96] = "", *text;

	if (rest)
		snprintf(not_shown, sizeof(not_shown), ", not shown %llu", rest);
	if (other)
		snprintf(not_known, sizeof(not_known), ", other (there was no room to tell them apart) %llu", other);
	const int len = asprintf(&text, "count %s, distinct %s%s%s%s", number_text(field, "count"), number_text(field, "distinct"),
				 other ? " or more" : "", not_shown, not_known);
	return len < 0 ? NULL : text;
}

static bool has_values(const struct json *field)
{
	const char *kind = json_text(field, "kind");

	return strcmp(kind, "text") == 0 || strcmp(kind, "symbol") == 0;
}

/* In two lines, where one is too narrow. */
static bool put_title(const struct json *field, const char *title, struct lines *to, size_t width)
{
	char *text = has_values(field) ? values_text(field) : numbers_text(field);
	bool good = text && lines_add(to, "\n", 1);

	if (good && width && table_width(title) + strlen(": ") + table_width(text) > width)
		good = table_line(to, width, "%s:", title) && table_line(to, width, "  %s", text);
	else
		good = good && table_line(to, width, "%s: %s", title, text);
	free(text);
	return good || fail_no_memory();
}

static void put_value(struct table *table, const struct json *value)
{
	const struct json *text = json_member(value, "value");
	const char *name = json_text(value, "name"), *from = number_text(value, "from"), *to = number_text(value, "to");

	if (json_member(value, "from"))
		table_cell(table, strcmp(from, to) != 0 ? "%s .. %s" : "%s", from, to);
	else if (*name)
		table_cell(table, "%s", name);
	else if (text && text->kind == JSON_STRING)
		table_cell(table, json_uint64(value, "length") > strlen(text->text) ? "\"%s\"..." : "\"%s\"", text->text);
	else
		table_cell(table, "%s", number_text(value, "value"));
}

/* height: LINES_FOR_FIELD at least. */
static bool put_field(const struct json *field, const char *title, struct lines *to, size_t width, size_t height)
{
	static const struct table_column columns[] = {{"", NULL, TABLE_NUMBER, 0}, {"", NULL, TABLE_NUMBER, 0}, {"", NULL, TABLE_BAR, 0}};
	const struct json *first = json_first(field, "histogram");
	const size_t from = to->len;
	struct table table;
	uint64_t most = 1;

	if (!put_title(field, title, to, width))
		return false;
	const size_t left = height_left(to, from, height);
	first = first ? first : json_first(field, "top");
	if (!first || left == SIZE_MAX)
		return true;
	for (const struct json *value = first; value; value = value->next)
		most = json_uint64(value, "count") > most ? json_uint64(value, "count") : most;
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), width, left);
	for (const struct json *value = first; value; value = value->next) {
		if (!table_row(&table))
			continue;
		put_value(&table, value);
		table_cell(&table, "%llu", (unsigned long long)json_uint64(value, "count"));
		table_bar(&table, (double)json_uint64(value, "count") / (double)most);
	}
	return table_end(&table, to);
}

static size_t nr_fields(const struct statistics *statistics)
{
	size_t nr = 0;

	for (size_t i = 0; i < statistics->nr; i++) {
		for (const struct json *event = json_first(&statistics->all[i].now.root, "events"); event; event = event->next)
			nr += json_count(json_first(event, "fields"));
	}
	return nr;
}

/* What the functions below share while they put fields. */
struct putting_fields {
	struct lines *to;
	size_t from, width, height; /* from: where the lines begin that count for the height */
	size_t nr_left;
	bool several;
};

/* Of a process. Where there is no more room, the rest is left. */
static bool put_fields_of(struct putting_fields *putting, const struct counted *counted)
{
	for (const struct json *event = json_first(&counted->now.root, "events"); event; event = event->next) {
		for (const struct json *field = json_first(event, "fields"); field; field = field->next, putting->nr_left--) {
			/* The last line is for those that are missing. */
			const size_t left = height_left(putting->to, putting->from, putting->height), rest = putting->nr_left > 1;
			char *title;
			if (left && (left == SIZE_MAX || left < LINES_FOR_FIELD + rest))
				return true;
			if (asprintf(&title, "%s.%s%s%s", json_text(event, "event"), json_text(field, "field"), putting->several ? " of " : "",
				     putting->several ? counted_title(counted) : "") < 0)
				return fail_no_memory();
			const bool good = put_field(field, title, putting->to, putting->width, left ? left - rest : 0);
			free(title);
			if (!good)
				return false;
		}
	}
	return true;
}

static bool put_fields(const struct statistics *statistics, struct lines *to, size_t from, size_t width, size_t height)
{
	struct putting_fields putting = {.to = to, .from = from, .width = width, .height = height, .nr_left = nr_fields(statistics),
					 .several = statistics->nr > 1 || statistics->targets.several};
	bool good = true;

	for (size_t i = 0; i < statistics->nr && good; i++)
		good = put_fields_of(&putting, &statistics->all[i]);
	if (!good || !putting.nr_left || height_left(to, from, height) == SIZE_MAX)
		return good;
	return table_line(to, width, "... %zu more field%s", putting.nr_left, putting.nr_left == 1 ? "" : "s") || fail_no_memory();
}

/* ---- The whole ---- */

static bool put_headline(const struct statistics *statistics, struct lines *to, size_t width)
{
	unsigned long long lost = 0;
	char processes[64], more[128] = "";
	double seconds = 0;

	for (size_t i = 0; i < statistics->nr; i++) {
		const double its_own = json_double(&statistics->all[i].now.root, "seconds");
		lost += json_uint64(&statistics->all[i].now.root, "lost");
		seconds = its_own > seconds ? its_own : seconds;
	}
	snprintf(processes, sizeof(processes), "%zu processes", statistics->nr);
	if (statistics->nr > 1 && statistics->nr_over)
		snprintf(more, sizeof(more), "; %zu %s ended", statistics->nr_over, statistics->nr_over == 1 ? "has" : "have");
	if (statistics->nr_failed)
		snprintf(more + strlen(more), sizeof(more) - strlen(more), "; %zu can't be counted", statistics->nr_failed);
	if (lost)
		snprintf(more + strlen(more), sizeof(more) - strlen(more), "; lost: %llu", lost);
	return table_line(to, width, "%s, %.3f s%s", statistics->nr == 1 ? counted_title(&statistics->all[0]) : processes, seconds, more);
}

/* Of so many parts that share what is left of the height. 0: without bounds; one line at least. */
static size_t share_of(const struct lines *text, size_t from, size_t height, size_t parts)
{
	const size_t left = height_left(text, from, height);

	return !left ? 0 : left == SIZE_MAX || left < parts ? 1 : left / parts;
}

static bool put(const void *data, const struct statistics *statistics, struct lines *to, size_t width, size_t height)
{
	const struct stat_view *view = data;
	const size_t from = to->len, with_fields = nr_fields(statistics) > 0;

	if (!statistics_has_numbers(statistics))
		return true;
	bool good = put_headline(statistics, to, width) && lines_add(to, "\n", 1) &&
		    put_events(view, statistics, false, to, width, share_of(to, from, height, 1 + view->by_thread + with_fields));
	if (good && view->by_thread && height_left(to, from, height) != SIZE_MAX)
		good = lines_add(to, "\n", 1) &&
		       put_events(view, statistics, true, to, width, share_of(to, from, height, 1 + with_fields));
	return good && put_fields(statistics, to, from, width, height);
}

/* ---- Sorting ---- */

static const char *const sort_names[STAT_NR_SORTS] = {"hits", "rate", "average", "name"};

bool stat_sort_parse(enum stat_sort *sort, const char *word)
{
	for (unsigned int i = 0; i < STAT_NR_SORTS; i++) {
		if (strcmp(sort_names[i], word) == 0) {
			*sort = (enum stat_sort)i;
			return true;
		}
	}
	return false;
}

static bool take_key(void *data, char key)
{
	struct stat_view *view = data;

	if (key == 'p') {
		view->folded = !view->folded;
		return true;
	}
	for (unsigned int i = 0; i < STAT_NR_SORTS; i++) {
		if (sort_names[i][0] == key) {
			view->sort = (enum stat_sort)i;
			return true;
		}
	}
	return false;
}

struct view stat_view_of(struct stat_view *view)
{
	return (struct view){.put = put, .key = take_key, .view = view,
			     .keys = "sort by (h)its (r)ate (a)verage (n)ame; hide or show (p)rocesses; (q)uit"};
}
