/* SPDX-License-Identifier: MIT */
/* stat_row.h - the numbers of an event in a process, or in several, or in a thread: from what processes report. */
#ifndef STAT_ROW_H
#define STAT_ROW_H

#include "client/statistics.h"

struct stat_row {
	const char *event;
	const struct counted *counted; /* NULL: of several */
	const struct json *json;       /* the event, or the thread; NULL: of several */
	bool is_thread;
	uint64_t hits;
	double rate;       /* a second, in the last interval; NAN: not known yet */
	double average;    /* a second, since counting began */
	uint64_t intervals; /* between hits in a thread; the others are valid if there are some; in ns */
	double min, mean, max;
	uint64_t first_ns, last_ns; /* from the epoch */
};

/* Zeros are none. */
struct stat_rows {
	struct stat_row *all;
	size_t nr, room;
};

/*
 * Adds a row for each event of each process, by the events' names; of several, with zeros for those of the same program that have not hit
 * it. threads: for each thread instead. False, and a message: no memory.
 */
bool stat_rows_add(struct stat_rows *rows, const struct statistics *statistics, bool threads);

/* Adds the numbers to those of several, which are zeros at first. */
void stat_row_add(struct stat_row *sum, const struct stat_row *row);

void stat_rows_free(struct stat_rows *rows);

#endif /* STAT_ROW_H */
