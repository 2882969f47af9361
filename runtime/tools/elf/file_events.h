/* SPDX-License-Identifier: MIT */
/* file_events.h - the events of one ELF file. */
#ifndef ELF_FILE_EVENTS_H
#define ELF_FILE_EVENTS_H

#include "elf/image.h"
#include "events/pattern.h"
#include "events_text.h"

/* What is collected from all files of a program. */
struct collected {
	const struct tp_pattern *pattern; /* only events that it matches get into the list; NULL: all */
	struct event_list list;
	size_t nr_events;                 /* including those that are not in the list */
	size_t nr_tracepoints;            /* including those that are no events */
	void *markers;                    /* for tsearch(): the names of those that are counted */
};

/*
 * Adds the file's events, if it has some, in the order of its sections, markers after the
 * others. False, and a message: the file is damaged, or there is no memory.
 */
bool file_events(struct collected *collected, struct image *image, const char *path);

void collected_free(struct collected *collected);

#endif /* ELF_FILE_EVENTS_H */
