/* SPDX-License-Identifier: MIT */
/* stat_events.h - the table of events, by processes or threads, with rates and shares. */
#ifndef STAT_EVENTS_H
#define STAT_EVENTS_H

#include "client/stat_view.h"

/* threads: a row for each thread of an event. width, height: as those of table.h. False, and a message: no memory. */
bool stat_events_put(const struct stat_view *view, const struct statistics *statistics, bool threads, struct lines *to, size_t width,
		     size_t height);

#endif /* STAT_EVENTS_H */
