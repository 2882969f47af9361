/* SPDX-License-Identifier: MIT */
/* stat_view.h - how "tp stat" and "tp top" show what processes have counted: a table of events, and of their fields. */
#ifndef STAT_VIEW_H
#define STAT_VIEW_H

#include "client/view.h"

enum stat_sort { STAT_BY_HITS, STAT_BY_RATE, STAT_BY_AVERAGE, STAT_BY_NAME, STAT_NR_SORTS };

#define STAT_SORT_WORDS "hits|rate|average|name"

struct stat_view {
	enum stat_sort sort;
	bool folded;     /* of several processes, only their sum is shown */
	bool by_thread;  /* a table of threads, too */
};

/* False: it is none of STAT_SORT_WORDS. */
bool stat_sort_parse(enum stat_sort *sort, const char *word);

struct view stat_view_of(struct stat_view *view);

#endif /* STAT_VIEW_H */
