/* SPDX-License-Identifier: MIT */
/* hist_row.h - the entries of a histogram, or of several that are counted as one; and how their keys are shown. */
#ifndef HIST_ROW_H
#define HIST_ROW_H

#include "client/json.h"
#include "client/lines.h"

#define HIST_VALUES 2

struct hist_row {
	const struct json *entry; /* the first of several */
	char *key;                /* of several: as it is shown */
	size_t place;             /* in the order of the process's, or of the keys: decides between equals */
	uint64_t hits;
	int64_t sums[HIST_VALUES];
	bool negative[HIST_VALUES]; /* of the sums: it is an int64_t, and else a uint64_t */
};

/* Zeros are none. */
struct hist_rows {
	struct hist_row *all;
	size_t nr;
	uint64_t hits, dropped;
};

/*
 * The entries of the histograms, which have the same keys and values. by_process: they are in the order of the process's, or, of several,
 * of their "sort="; else the most frequent are first. False: no memory.
 */
bool hist_rows_make(struct hist_rows *rows, const struct json *const *hists, size_t nr, bool by_process);
void hist_rows_free(struct hist_rows *rows);

/* Adds a key of an entry, as it is shown. item: of the histogram's "keys". False: no memory. */
bool hist_key_put(struct lines *to, const struct json *item, const struct json *key);

/* Adds the calls of a stack, a line each. */
bool hist_stack_put(struct lines *to, const struct json *key);

#endif /* HIST_ROW_H */
