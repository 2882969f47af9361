/* SPDX-License-Identifier: MIT */
/* view.h - a way to show statistics, and where: what live.h needs of stat_view.h and hist_view.h. */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "client/lines.h"
#include "client/statistics.h"

/* Lines of a text, at most so wide and so many. */
struct area {
	struct lines *text;
	size_t from;          /* where they begin in it */
	size_t width, height; /* 0: without bounds */
};

/* Whether there is room for another line; *left: for how many, 0: without bounds. */
bool area_has_room(const struct area *area, size_t *left);

struct view {
	/* Adds lines. False, and a message: no memory. */
	bool (*put)(const void *view, const struct statistics *statistics, const struct area *area);

	/* A key was pressed; whether it means anything. NULL: none does. */
	bool (*key)(void *view, char key);
	const char *keys; /* a line that says which do */
	void *view;       /* for these functions */
};

#endif /* VIEW_H */
