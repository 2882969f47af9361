/* SPDX-License-Identifier: MIT */
#include "client/stat_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/table.h"
#include "fail_msg.h"

#define LINES_FOR_FIELD 3u /* at least: an empty one, and what is known of it in two */
#define TEXT_BYTES 63      /* of a value that is longer, the first */

/* ---- A field ---- */

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
		table_cell(table, json_uint64(value, "length") > TEXT_BYTES ? "\"%s\"..." : "\"%s\"", text->text);
	else
		table_cell(table, "%s", number_text(value, "value"));
}

static bool put_field(const struct json *field, const char *title, const struct area *area)
{
	static const struct table_column columns[] = {{"", NULL, TABLE_NUMBER, 0}, {"", NULL, TABLE_NUMBER, 0}, {"", NULL, TABLE_BAR, 0}};
	const struct json *first = json_first(field, "histogram");
	struct table table;
	uint64_t most = 1;
	size_t left;

	if (!put_title(field, title, area->text, area->width))
		return false;
	first = first ? first : json_first(field, "top");
	if (!first || !area_has_room(area, &left))
		return true;
	for (const struct json *value = first; value; value = value->next)
		most = json_uint64(value, "count") > most ? json_uint64(value, "count") : most;
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), area->width, left);
	for (const struct json *value = first; value; value = value->next) {
		if (!table_row(&table))
			continue;
		put_value(&table, value);
		table_cell(&table, "%llu", (unsigned long long)json_uint64(value, "count"));
		table_bar(&table, (double)json_uint64(value, "count") / (double)most);
	}
	return table_end(&table, area->text);
}

/* ---- All ---- */

size_t stat_fields_count(const struct statistics *statistics)
{
	size_t nr = 0;

	for (size_t i = 0; i < statistics->nr; i++) {
		for (const struct json *event = json_first(&statistics->all[i].now.root, "events"); event; event = event->next)
			nr += json_count(json_first(event, "fields"));
	}
	return nr;
}

/* What the functions below share. */
struct putting {
	const struct area *area;
	size_t nr_left;
	bool several;
};

/* False: no memory. */
static bool put_one(const struct putting *putting, const struct counted *counted, const struct json *event, const struct json *field,
		    size_t height)
{
	const struct area area = {.text = putting->area->text, .from = putting->area->text->len, .width = putting->area->width, .height = height};
	const char *of = putting->several ? " of " : "", *process = putting->several ? counted_title(counted) : "";
	char *title;

	if (asprintf(&title, "%s.%s%s%s", json_text(event, "event"), json_text(field, "field"), of, process) < 0)
		return fail_no_memory();
	const bool good = put_field(field, title, &area);
	free(title);
	return good;
}

/* Where there is no more room, the rest is left: the last line is for it. */
static bool put_process(struct putting *putting, const struct counted *counted)
{
	for (const struct json *event = json_first(&counted->now.root, "events"); event; event = event->next) {
		for (const struct json *field = json_first(event, "fields"); field; field = field->next, putting->nr_left--) {
			const size_t last = putting->nr_left > 1;
			size_t left;
			if (!area_has_room(putting->area, &left) || (left && left < LINES_FOR_FIELD + last))
				return true;
			if (!put_one(putting, counted, event, field, left ? left - last : 0))
				return false;
		}
	}
	return true;
}

bool stat_fields_put(const struct statistics *statistics, const struct area *area)
{
	struct putting putting = {.area = area, .nr_left = stat_fields_count(statistics), .several = statistics_are_of_several(statistics)};
	bool good = true;
	size_t left;

	for (size_t i = 0; i < statistics->nr && good; i++)
		good = put_process(&putting, &statistics->all[i]);
	if (!good || !putting.nr_left || !area_has_room(area, &left))
		return good;
	return table_line(area->text, area->width, "... %zu more field%s", putting.nr_left, putting.nr_left == 1 ? "" : "s") || fail_no_memory();
}
