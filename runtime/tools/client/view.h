/* SPDX-License-Identifier: MIT */
/* view.h - a way to show statistics: what live.h needs of stat_view.h and hist_view.h. */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "client/lines.h"
#include "client/statistics.h"

struct view {
	/* Adds lines, at most so wide and so many; 0: without bounds. False, and a message: no memory. */
	bool (*put)(const void *view, const struct statistics *statistics, struct lines *to, size_t width, size_t height);

	/* A key was pressed; whether it means anything. NULL: none does. */
	bool (*key)(void *view, char key);
	const char *keys; /* a line that says which do */
	void *view;       /* for these functions */
};

#endif /* VIEW_H */
