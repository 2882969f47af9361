/* SPDX-License-Identifier: MIT */
#include "timeline/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

#define BARS_MAX 3000
#define SHORTEST 1.0f /* column */
#define TITLES_MAX ((size_t)256 << 10)

bool lanes_init(struct lanes *lanes, uint64_t begin, uint64_t end)
{
	*lanes = (struct lanes){.begin = begin, .end = end > begin ? end : begin + 1, .shortest = SHORTEST};
	lanes->bars = calloc(BARS_MAX, sizeof(*lanes->bars));
	return lanes->bars || fail_no_memory();
}

static void lane_free(struct lane *lane)
{
	for (unsigned int row = 0; row < LANE_ROWS; row++) {
		free(lane->rows[row].busy);
		free(lane->rows[row].open.title);
	}
	for (size_t i = 0; lane->titles && i < LANE_COLUMNS; i++)
		free(lane->titles[i]);
	free(lane->titles);
	free(lane->ticks);
	free(lane->values);
	free(lane->name);
}

void lanes_free(struct lanes *lanes)
{
	for (size_t i = 0; i < lanes->nr; i++)
		lane_free(&lanes->lanes[i]);
	for (size_t i = 0; i < lanes->nr_bars; i++)
		free(lanes->bars[i].title);
	free(lanes->lanes);
	free(lanes->bars);
	keys_free(&lanes->keys);
}

struct lane *lanes_get(struct lanes *lanes, uint64_t key, uint64_t key_more, bool *is_new)
{
	size_t index;

	if (!key_index(&lanes->keys, key, key_more, &index, is_new))
		return NULL;
	if (!*is_new)
		return &lanes->lanes[index];
	if (index == lanes->room) {
		const size_t room = 2 * lanes->room + 16;
		struct lane *more = reallocarray(lanes->lanes, room, sizeof(*more));
		if (!more) {
			fail_no_memory();
			return NULL;
		}
		lanes->lanes = more;
		lanes->room = room;
	}
	lanes->lanes[index] = (struct lane){.name = NULL};
	lanes->nr = index + 1;
	return &lanes->lanes[index];
}

/* ---- Columns ---- */

static float column_of(const struct lanes *lanes, uint64_t time)
{
	if (time <= lanes->begin)
		return 0;
	if (time >= lanes->end)
		return (float)LANE_COLUMNS;
	return (float)((double)(time - lanes->begin) * LANE_COLUMNS / (double)(lanes->end - lanes->begin));
}

static size_t index_of(const struct lanes *lanes, uint64_t time)
{
	const size_t column = (size_t)column_of(lanes, time);

	return column < LANE_COLUMNS ? column : LANE_COLUMNS - 1;
}

static bool has_columns(void *columns, size_t size)
{
	void **array = columns;

	if (!*array)
		*array = calloc(LANE_COLUMNS, size);
	return *array || fail_no_memory();
}

/* ---- Instants and values ---- */

bool lane_instant(struct lanes *lanes, struct lane *lane, uint64_t time, char *title)
{
	const size_t column = index_of(lanes, time);

	if (!has_columns(&lane->ticks, sizeof(*lane->ticks)) || !has_columns(&lane->titles, sizeof(*lane->titles))) {
		free(title);
		return false;
	}
	lane->nr++;
	lane->ticks[column]++;
	if (title && !lane->titles[column] && lanes->titles + strlen(title) < TITLES_MAX) {
		lanes->titles += strlen(title);
		lane->titles[column] = title;
	} else {
		free(title);
	}
	return true;
}

bool lane_value(struct lanes *lanes, struct lane *lane, uint64_t time, double value)
{
	if (!has_columns(&lane->values, sizeof(*lane->values)))
		return false;
	struct lane_value *at = &lane->values[index_of(lanes, time)];
	if (!at->is_there || value < at->min)
		at->min = value;
	if (!at->is_there || value > at->max)
		at->max = value;
	at->last = value;
	at->is_there = true;
	lane->nr++;
	return true;
}

/* ---- Slices ---- */

/* A slice that is no bar: each column gets its part. */
static bool add_busy(struct lanes *lanes, uint32_t lane_nr, uint32_t row_nr, float x, float width)
{
	struct lane_row *row = &lanes->lanes[lane_nr].rows[row_nr];
	const float until = x + (width > 0.01f ? width : 0.01f); /* it is seen in any case */

	if (!has_columns(&row->busy, sizeof(*row->busy)))
		return false;
	for (size_t i = (size_t)x; i < LANE_COLUMNS && (float)i < until; i++) {
		const float from = x > (float)i ? x : (float)i, to = until < (float)(i + 1) ? until : (float)(i + 1);
		row->busy[i] += to - from;
	}
	return true;
}

/* Too many: twice as many columns make a bar. */
static bool make_room(struct lanes *lanes)
{
	size_t kept = 0;

	lanes->shortest *= 2;
	for (size_t i = 0; i < lanes->nr_bars; i++) {
		struct bar *bar = &lanes->bars[i];
		if (bar->width >= lanes->shortest) {
			lanes->bars[kept++] = *bar;
			continue;
		}
		free(bar->title);
		bar->title = NULL;
		if (!add_busy(lanes, bar->lane, bar->row, bar->x, bar->width))
			return false;
	}
	lanes->nr_bars = kept;
	return true;
}

void lane_begin(struct lane *lane, uint64_t time, uint32_t colour, char *title)
{
	lane->nr++;
	if (lane->depth++ >= LANE_ROWS) {
		free(title);
		return;
	}
	lane->nr_rows = lane->depth > lane->nr_rows ? lane->depth : lane->nr_rows;
	struct lane_slice *open = &lane->rows[lane->depth - 1].open;
	free(open->title);
	*open = (struct lane_slice){.begin = time, .colour = colour, .title = title};
}

bool lane_end(struct lanes *lanes, struct lane *lane, uint64_t time)
{
	lane->nr++;
	if (lane->depth == 0 || --lane->depth >= LANE_ROWS)
		return true;
	struct lane_slice *open = &lane->rows[lane->depth].open;
	const float x = column_of(lanes, open->begin), width = column_of(lanes, time) - x;
	const uint32_t lane_nr = (uint32_t)(lane - lanes->lanes);
	while (width >= lanes->shortest && lanes->nr_bars == BARS_MAX) {
		if (!make_room(lanes))
			return false;
	}
	if (width < lanes->shortest)
		return add_busy(lanes, lane_nr, lane->depth, x, width);
	lanes->bars[lanes->nr_bars++] = (struct bar){
		.lane = lane_nr, .row = lane->depth, .x = x, .width = width, .colour = open->colour, .title = open->title,
	};
	open->title = NULL;
	return true;
}

bool lanes_finish(struct lanes *lanes)
{
	bool good = true;

	for (size_t i = 0; i < lanes->nr && good; i++) {
		while (lanes->lanes[i].depth > 0 && good)
			good = lane_end(lanes, &lanes->lanes[i], lanes->end);
	}
	return good;
}
