/* SPDX-License-Identifier: MIT */
/* hist_view.h - how "tp hist" shows histograms on a terminal: the most frequent first, and of several processes their sum. */
#ifndef HIST_VIEW_H
#define HIST_VIEW_H

#include "client/view.h"

struct hist_view {
	const char *definition; /* without a filter; its "sort=" is obeyed */
};

struct view hist_view_of(struct hist_view *view);

/*
 * Histograms that a process has: a list of them, one below the other. One that is sorted by hitcount, as it is if nothing was said, is
 * shown with the most frequent first. False, and a message: no memory.
 */
bool hist_view_put_list(const struct json *list, struct lines *to, size_t width);

#endif /* HIST_VIEW_H */
