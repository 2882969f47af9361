/* SPDX-License-Identifier: MIT */
/*
 * lanes.h - what a picture of a trace shows, gathered event by event: a lane for each thread, each track of slices and each
 * counter. Memory grows with the lanes and not with the trace: what is shorter than a column of the picture is added up there.
 */
#ifndef LANES_H
#define LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/counts.h"

#define LANE_COLUMNS 1200u
#define LANE_ROWS 8u /* slices within slices; those within these are not shown */

enum lane_kind { LANE_THREAD, LANE_SLICES, LANE_COUNTER };

struct lane_slice {
	uint64_t begin;
	char *title; /* NULL: there was no memory */
	uint32_t colour;
};

struct lane_row {
	struct lane_slice open;
	float *busy; /* of each column, how much of it the slices take that are too short to be shown; NULL: none */
};

struct lane_value {
	double min, max, last;
	bool is_there;
};

struct lane {
	enum lane_kind kind;
	uint64_t group;       /* the process; 0: none */
	char *name;
	uint64_t nr;          /* events */
	struct lane_row rows[LANE_ROWS];
	unsigned int depth;   /* slices that are open */
	unsigned int nr_rows;
	uint32_t *ticks;      /* of each column, instants */
	char **titles;        /* of each column, the first one's; or NULL */
	struct lane_value *values; /* of each column */
};

/* A slice that is long enough. */
struct bar {
	uint32_t lane, row;
	float x, width; /* in columns */
	uint32_t colour;
	char *title;
};

struct lanes {
	uint64_t begin, end;
	struct keys keys;
	struct lane *lanes;
	size_t nr, room;
	struct bar *bars;
	size_t nr_bars;
	float shortest;  /* of the bars */
	size_t titles;   /* bytes of those of instants */
};

/* False, and a message: there is no memory. To be freed in any case. */
bool lanes_init(struct lanes *lanes, uint64_t begin, uint64_t end);
void lanes_free(struct lanes *lanes);

/* The lane that has the key; a new one has neither name nor kind. NULL, and a message. */
struct lane *lanes_get(struct lanes *lanes, uint64_t key, uint64_t key_more, bool *is_new);

/* Titles are the lane's from here on. */
bool lane_instant(struct lanes *lanes, struct lane *lane, uint64_t time, char *title);
void lane_begin(struct lane *lane, uint64_t time, uint32_t colour, char *title);
bool lane_end(struct lanes *lanes, struct lane *lane, uint64_t time);
bool lane_value(struct lanes *lanes, struct lane *lane, uint64_t time, double value);

/* Slices that are still open last until the end of the trace. */
bool lanes_finish(struct lanes *lanes);

#endif /* LANES_H */
