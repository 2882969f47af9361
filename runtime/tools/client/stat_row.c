/* SPDX-License-Identifier: MIT */
#include "client/stat_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

static struct stat_row *new_row(struct stat_rows *rows)
{
	if (rows->nr == rows->room) {
		const size_t room = rows->room ? 2 * rows->room : 64;
		struct stat_row *all = reallocarray(rows->all, room, sizeof(*all));
		if (!all)
			return NULL;
		rows->all = all;
		rows->room = room;
	}
	return &rows->all[rows->nr++];
}

/* Whether the event, or the thread, is the same in an older report. */
static bool is_same(const struct json *one, const struct json *other, bool threads)
{
	if (threads)
		return json_uint64(one, "tid") == json_uint64(other, "tid");
	return strcmp(json_text(one, "event"), json_text(other, "event")) == 0;
}

/* Their order changes little: *at is where the last was found, and the search goes on there. NULL: there is none. */
static const struct json *find(const struct json *first, const struct json **at, const struct json *wanted, bool threads)
{
	const struct json *begin = *at ? *at : first, *one = begin;

	while (one) {
		const struct json *next = one->next ? one->next : first;
		if (is_same(one, wanted, threads)) {
			*at = next;
			return one;
		}
		if (next == begin)
			return NULL;
		one = next;
	}
	return NULL;
}

/* Since the beginning, if there is nothing older, and it is known that nothing was counted before. */
static double rate_of(const struct counted *counted, uint64_t hits, const struct json *older)
{
	const double seconds = json_double(&counted->now.root, "seconds"), before = json_double(&counted->base.root, "seconds");
	const uint64_t hits_before = json_uint64(older, "hits");

	if (!isnan(before) && seconds > before)
		return (double)(hits > hits_before ? hits - hits_before : 0) / (seconds - before);
	return counted->own && seconds > 0 ? (double)hits / seconds : NAN;
}

static void fill_in(struct stat_row *row, const struct counted *counted, const struct json *json, const struct json *older)
{
	const double average = json_double(json, "rate");

	row->counted = counted;
	row->json = json;
	row->hits = json_uint64(json, "hits");
	row->rate = rate_of(counted, row->hits, older);
	row->average = isnan(average) ? 0 : average;
	row->intervals = json_uint64(json, "intervals");
	row->min = json_double(json, "interval_min_ns");
	row->mean = json_double(json, "interval_mean_ns");
	row->max = json_double(json, "interval_max_ns");
	row->first_ns = json_uint64(json, "first_ns");
	row->last_ns = json_uint64(json, "last_ns");
}

static bool add_row(struct stat_rows *rows, const struct counted *counted, const char *event, const struct json *json,
		    const struct json *older)
{
	struct stat_row *row = new_row(rows);

	if (!row)
		return fail_no_memory();
	*row = (struct stat_row){.event = event};
	fill_in(row, counted, json, older);
	return true;
}

static bool add_threads(struct stat_rows *rows, const struct counted *counted, const struct json *event, const struct json *older)
{
	const struct json *first = json_first(older, "threads"), *at = NULL;
	const char *name = json_text(event, "event");
	bool good = true;

	for (const struct json *thread = json_first(event, "threads"); thread && good; thread = thread->next) {
		good = add_row(rows, counted, name, thread, find(first, &at, thread, true));
		if (good)
			rows->all[rows->nr - 1].is_thread = true;
	}
	return good;
}

static bool add_process(struct stat_rows *rows, const struct counted *counted, bool threads)
{
	const struct json *first = json_first(&counted->base.root, "events"), *at = NULL;
	bool good = true;

	for (const struct json *event = json_first(&counted->now.root, "events"); event && good; event = event->next) {
		const struct json *older = find(first, &at, event, false);
		good = threads ? add_threads(rows, counted, event, older)
			       : add_row(rows, counted, json_text(event, "event"), event, older);
	}
	return good;
}

static int compare(const void *a, const void *b)
{
	const struct stat_row *one = a, *other = b;
	const int order = strcmp(one->event, other->event);

	return order ? order : one->counted < other->counted ? -1 : one->counted > other->counted;
}

/* Who has ended hits nothing any more, while others go on. */
static void stop_rates(struct stat_rows *rows, const struct statistics *statistics)
{
	for (size_t i = 0; i < rows->nr && statistics->nr_over < statistics->nr; i++) {
		if (rows->all[i].counted->over)
			rows->all[i].rate = 0;
	}
}

/* ---- Of several: who hits nothing ---- */

static bool has_row(const struct stat_rows *rows, size_t begin, size_t end, const struct counted *counted)
{
	for (size_t i = begin; i < end; i++) {
		if (rows->all[i].counted == counted)
			return true;
	}
	return false;
}

/* The event's rows are from begin to end. A process of the same program could have hit it. */
static bool add_idle(struct stat_rows *rows, const struct statistics *statistics, size_t begin, size_t end)
{
	const struct stat_row first = rows->all[begin];
	const char *program = json_text(&first.counted->now.root, "program");

	for (size_t i = 0; i < statistics->nr; i++) {
		const struct counted *counted = &statistics->all[i];
		if (strcmp(json_text(&counted->now.root, "program"), program) != 0 || has_row(rows, begin, end, counted))
			continue;
		struct stat_row *row = new_row(rows);
		if (!row)
			return fail_no_memory();
		*row = (struct stat_row){.event = first.event, .counted = counted};
	}
	return true;
}

static bool add_all_idle(struct stat_rows *rows, const struct statistics *statistics)
{
	const size_t nr = rows->nr;
	bool good = true;

	for (size_t begin = 0, end; begin < nr && good; begin = end) {
		for (end = begin + 1; end < nr && strcmp(rows->all[end].event, rows->all[begin].event) == 0;)
			end++;
		good = add_idle(rows, statistics, begin, end);
	}
	return good;
}

static void sort(struct stat_rows *rows)
{
	if (rows->nr)
		qsort(rows->all, rows->nr, sizeof(*rows->all), compare);
}

bool stat_rows_add(struct stat_rows *rows, const struct statistics *statistics, bool threads)
{
	bool good = true;

	for (size_t i = 0; i < statistics->nr && good; i++)
		good = add_process(rows, &statistics->all[i], threads);
	stop_rates(rows, statistics);
	sort(rows);
	if (good && !threads && statistics->nr > 1) {
		good = add_all_idle(rows, statistics);
		sort(rows);
	}
	return good;
}

void stat_row_add(struct stat_row *sum, const struct stat_row *row)
{
	const uint64_t intervals = sum->intervals + row->intervals;

	if (!row->hits)
		return;
	if (!sum->hits || row->first_ns < sum->first_ns)
		sum->first_ns = row->first_ns;
	if (row->last_ns > sum->last_ns)
		sum->last_ns = row->last_ns;
	if (row->intervals) {
		sum->min = sum->intervals && sum->min < row->min ? sum->min : row->min;
		sum->max = sum->intervals && sum->max > row->max ? sum->max : row->max;
		sum->mean = (sum->mean * (double)sum->intervals + row->mean * (double)row->intervals) / (double)intervals;
	}
	sum->intervals = intervals;
	sum->hits += row->hits;
	sum->rate += row->rate;
	sum->average += row->average;
}

void stat_rows_free(struct stat_rows *rows)
{
	free(rows->all);
	*rows = (struct stat_rows){.all = NULL};
}
