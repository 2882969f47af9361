/* SPDX-License-Identifier: MIT */
#include "client/stat_view.h"

#include <stdio.h>
#include <string.h>

#include "client/stat_events.h"
#include "client/stat_fields.h"
#include "client/table.h"

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
static size_t share_of(const struct area *area, size_t parts)
{
	size_t left;

	area_has_room(area, &left);
	return !area->height ? 0 : left > parts ? left / parts : 1;
}

static bool put(const void *data, const struct statistics *statistics, const struct area *area)
{
	const struct stat_view *view = data;
	const size_t with_fields = stat_fields_count(statistics) > 0;
	size_t left;

	if (!statistics_has_numbers(statistics))
		return true;
	bool good = put_headline(statistics, area->text, area->width) && lines_add(area->text, "\n", 1) &&
		    stat_events_put(view, statistics, false, area->text, area->width, share_of(area, 1 + view->by_thread + with_fields));
	if (good && view->by_thread && area_has_room(area, &left))
		good = lines_add(area->text, "\n", 1) &&
		       stat_events_put(view, statistics, true, area->text, area->width, share_of(area, 1 + with_fields));
	return good && stat_fields_put(statistics, area);
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
