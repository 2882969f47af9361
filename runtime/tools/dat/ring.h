/* SPDX-License-Identifier: MIT */
/* ring.h - pages of ftrace's ring buffer, as header_page and header_event describe them, one CPU's after the other. */
#ifndef RING_H
#define RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/trace_dir.h"

#define RING_PAGE_HEAD 16u /* its time, and what is in it */

struct ring {
	int fd;
	const char *path; /* of the file, for messages */
	uint64_t offset;  /* of the page in the file */
	unsigned char *page;
	size_t page_size;
	size_t used;      /* bytes of the page; 0: there is none */
	uint64_t time;    /* of its last event */
	uint64_t page_lost; /* events in front of the page */
	uint64_t lost;      /* ... and of the next one */
};

/* The smallest page that records up to this size fit into. */
size_t ring_page_size(size_t record);

/* False, and a message. offset is a multiple of the page size. */
bool ring_begin(struct ring *ring, int fd, const char *path, size_t page_size, uint64_t offset);
void ring_free(struct ring *ring);

/* So many events were lost, or TRACE_LOST_UNKNOWN, before the next one. */
bool ring_lost(struct ring *ring, uint64_t events);

/* Time is in nanoseconds, and that of the event before or later. */
bool ring_event(struct ring *ring, uint64_t time, const void *record, size_t size);

/* Writes the last page of a CPU. The next event is another's. */
bool ring_flush(struct ring *ring);

#endif /* RING_H */
