/* SPDX-License-Identifier: MIT */
/* screen.h - a table that is drawn again and again on a terminal, as top does it. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>

#include "client/out.h"

/* Zeros are no screen. */
struct screen {
	struct out out;
	bool is_on; /* the terminal shows it, and no longer what was there before */
};

/* Whether standard output is a terminal that can do it. */
bool screen_is_possible(void);

/* False, and a message. */
bool screen_begin(struct screen *screen);

/* The size of the terminal of standard output, or what is usual. */
void screen_size(size_t *width, size_t *height);

/*
 * Draws the text's first lines, as many as there is room for. Nothing is done while the terminal still has the last
 * drawing to show.
 */
void screen_draw(struct screen *screen, const char *text);

/* The terminal shows what it did before; screen_draw() begins anew. */
void screen_leave(struct screen *screen);

void screen_end(struct screen *screen);

#endif /* SCREEN_H */
