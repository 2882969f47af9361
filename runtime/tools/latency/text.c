/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/table.h"
#include "fail_msg.h"
#include "latency/latency.h"

typedef unsigned long long number;

#define LINES_OF_PAIR 3 /* and an empty one */

/* ---- What it is of, and what is not in the numbers ---- */

static bool put_head(const struct latency *latency, struct lines *to, size_t width)
{
	uint64_t pairs = 0;
	char waits[32];
	bool good;

	for (size_t i = 0; i < latency->nr_groups; i++)
		pairs += latency->groups[i].count;
	good = table_line(to, width, "%s -> %s, by %s: %llu pair%s", latency->begin, latency->end,
			  *latency->key ? latency->key : "thread", (number)pairs, pairs == 1 ? "" : "s");
	if (good && latency->waiting)
		good = table_line(to, width, "without an end so far: %llu, the oldest for %s", (number)latency->waiting,
				  table_duration_text(waits, sizeof(waits), latency->oldest_ns));
	if (good && latency->forgotten)
		good = table_line(to, width, "without an end, and no more waited for, as others needed the room: %llu", (number)latency->forgotten);
	if (good && latency->unmatched)
		good = table_line(to, width, "ends without a begin: %llu", (number)latency->unmatched);
	if (good && latency->lost)
		good = table_line(to, width, "records lost: %llu", (number)latency->lost);
	return good;
}

/* ---- Groups ---- */

static void put_group(struct table *table, const struct latency_group *group, const char *name, bool with_name)
{
	static const double parts[] = {0.5, 0.9, 0.99, 0.999};

	if (!table_row(table))
		return;
	if (with_name)
		table_cell(table, "%s", name);
	table_cell(table, "%llu", (number)group->count);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		table_duration(table, latency_percentile(group, parts[i]));
	table_duration(table, group->most);
	table_duration(table, group->sum / group->count);
}

static bool put_groups(const struct latency *latency, const struct latency_group *all, struct lines *to, size_t width, size_t height)
{
	const bool with_name = *latency->by != '\0';
	const struct table_column columns[] = {
		{latency->by, NULL, TABLE_TEXT, 0}, {"PAIRS", NULL, TABLE_NUMBER, 0}, {"P50", NULL, TABLE_NUMBER, 0},
		{"P90", NULL, TABLE_NUMBER, 3}, {"P99", NULL, TABLE_NUMBER, 0}, {"P99.9", NULL, TABLE_NUMBER, 2},
		{"MAX", NULL, TABLE_NUMBER, 1}, {"MEAN", NULL, TABLE_NUMBER, 4},
	};
	const size_t first = with_name ? 0 : 1;
	struct table table;

	table_begin(&table, columns + first, sizeof(columns) / sizeof(columns[0]) - first, width, height);
	put_group(&table, all, "all", with_name);
	for (size_t i = 0; with_name && i < latency->nr_groups; i++)
		put_group(&table, &latency->groups[i], *latency->groups[i].name ? latency->groups[i].name : "(others)", true);
	return table_end(&table, to);
}

/* ---- Bars: each is of times up to twice as long ---- */

struct bar {
	uint64_t from, count;
};

static size_t make_bars(const struct latency_group *all, struct bar bars[64])
{
	size_t nr = 0;

	for (uint32_t i = 0; i < TP_NR_BUCKETS; i++) {
		const uint64_t begin = tp_bucket_begin(i);
		const uint64_t from = begin ? (uint64_t)1 << (63 - __builtin_clzll(begin)) : 0;
		if (!all->buckets[i] && !nr)
			continue;
		if (!nr || bars[nr - 1].from != from)
			bars[nr++] = (struct bar){.from = from};
		bars[nr - 1].count += all->buckets[i];
	}
	while (nr && !bars[nr - 1].count)
		nr--;
	return nr;
}

static bool put_bars(const struct latency_group *all, struct lines *to, size_t width, size_t height)
{
	static const struct table_column columns[] = {
		{"FROM", NULL, TABLE_NUMBER, 0}, {"PAIRS", NULL, TABLE_NUMBER, 0}, {"%", NULL, TABLE_NUMBER, 1}, {"", NULL, TABLE_BAR, 2},
	};
	struct bar bars[64];
	const size_t nr = make_bars(all, bars);
	struct table table;
	uint64_t most = 1;

	for (size_t i = 0; i < nr; i++)
		most = bars[i].count > most ? bars[i].count : most;
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]), width, height);
	for (size_t i = 0; i < nr; i++) {
		if (!table_row(&table))
			continue;
		table_duration(&table, bars[i].from);
		table_cell(&table, "%llu", (number)bars[i].count);
		table_cell(&table, "%.1f", 100 * (double)bars[i].count / (double)all->count);
		table_bar(&table, (double)bars[i].count / (double)most);
	}
	return lines_add(to, "\n", 1) && table_end(&table, to);
}

/* ---- The slowest ---- */

static bool put_slowest(const struct latency *latency, struct lines *to, size_t width, size_t height)
{
	bool good = true;

	for (size_t i = 0; i < latency->nr_slowest && good; i++) {
		const struct latency_pair *pair = &latency->slowest[i];
		char took[32];
		if (height && (i + 1) * (LINES_OF_PAIR + 1) > height)
			return table_line(to, width, "%zu more", latency->nr_slowest - i);
		good = lines_add(to, "\n", 1) &&
		       table_line(to, width, "slowest %zu: %s", i + 1, table_duration_text(took, sizeof(took), pair->ns)) &&
		       table_line(to, width, "  %s", pair->begin ? pair->begin : "") && table_line(to, width, "  %s", pair->end ? pair->end : "");
	}
	return good;
}

/* ---- All ---- */

/* What is left of the height; 0: without bounds. At least so many lines. */
static size_t left(const struct area *area, size_t least)
{
	size_t lines;

	area_has_room(area, &lines);
	return area->height && lines < least ? least : lines;
}

bool latency_put_text(const struct latency *latency, const struct area *area)
{
	uint64_t buckets[TP_NR_BUCKETS] = {0};
	struct latency_group all = {.buckets = buckets};
	const size_t width = area->width;

	for (size_t i = 0; i < latency->nr_groups; i++)
		latency_group_merge(&all, &latency->groups[i]);
	bool good = put_head(latency, area->text, width);
	if (good && all.count) {
		const size_t room = left(area, 4);
		good = put_groups(latency, &all, area->text, width, latency->nr_slowest || room < 12 ? room : room / 2) &&
		       (latency->nr_slowest || put_bars(&all, area->text, width, left(area, 4))) &&
		       put_slowest(latency, area->text, width, left(area, LINES_OF_PAIR + 1));
	}
	return good || fail_no_memory();
}
