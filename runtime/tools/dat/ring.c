/* SPDX-License-Identifier: MIT */
#include "dat/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/ring_words.h"
#include "fail_msg.h"

#define PAGE_SIZE_MIN ((size_t)4096)
#define WORD sizeof(uint32_t)
#define LOST_SIZE sizeof(uint64_t) /* behind the events; kept free in each page */

static size_t in_words(size_t size)
{
	return (size + WORD - 1) / WORD * WORD;
}

size_t ring_page_size(size_t record)
{
	size_t size = PAGE_SIZE_MIN;

	while (size < RING_PAGE_HEAD + 2 * WORD + in_words(record) + LOST_SIZE)
		size *= 2;
	return size;
}

bool ring_begin(struct ring *ring, int fd, const char *path, size_t page_size, uint64_t offset)
{
	*ring = (struct ring){.fd = fd, .path = path, .offset = offset, .page_size = page_size};
	ring->page = malloc(page_size);
	return ring->page || fail_no_memory();
}

void ring_free(struct ring *ring)
{
	free(ring->page);
	ring->page = NULL;
}

/* How much of the page is used, and what was lost in front of it. */
static void finish_head(struct ring *ring)
{
	uint64_t commit = ring->used - RING_PAGE_HEAD;

	memcpy(ring->page + ring->used, &ring->page_lost, LOST_SIZE);
	ring->used += LOST_SIZE;
	if (ring->page_lost)
		commit |= EVENTS_LOST;
	if (ring->page_lost && ring->page_lost != TRACE_LOST_UNKNOWN)
		commit |= EVENTS_LOST_STORED;
	memcpy(ring->page + sizeof(uint64_t), &commit, sizeof(commit));
}

bool ring_flush(struct ring *ring)
{
	if (!ring->used)
		return true;
	finish_head(ring);
	for (size_t done = 0; done < ring->used;) {
		ssize_t n = pwrite(ring->fd, ring->page + done, ring->used - done, (off_t)(ring->offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_msg("'%s' can't be written: %s", ring->path, strerror(n ? errno : ENOSPC));
		done += (size_t)n;
	}
	ring->offset += ring->page_size;
	ring->used = 0;
	return true;
}

/* Readers look for lost events in front of a page's first event only. */
bool ring_lost(struct ring *ring, uint64_t events)
{
	if (!events)
		return true;
	if (events > TRACE_LOST_UNKNOWN - ring->lost)
		ring->lost = TRACE_LOST_UNKNOWN;
	else
		ring->lost += events;
	return ring_flush(ring);
}

static void put_word(struct ring *ring, uint32_t word)
{
	memcpy(ring->page + ring->used, &word, sizeof(word));
	ring->used += sizeof(word);
}

static void put_head(struct ring *ring, uint32_t type, uint32_t delta)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	put_word(ring, delta << (32 - DELTA_BITS) | type);
#else
	put_word(ring, type << DELTA_BITS | delta);
#endif
}

static void begin_page(struct ring *ring, uint64_t time)
{
	memcpy(ring->page, &time, sizeof(time));
	ring->used = RING_PAGE_HEAD;
	ring->time = time;
	ring->page_lost = ring->lost;
	ring->lost = 0;
}

bool ring_event(struct ring *ring, uint64_t time, const void *record, size_t size)
{
	const size_t len = in_words(size);
	const size_t most = 2 * WORD + 2 * WORD + len + LOST_SIZE;
	bool new_page = ring->used == 0;

	if (!new_page && (ring->used + most > ring->page_size || (time - ring->time) >> EXTEND_BITS)) {
		if (!ring_flush(ring))
			return false;
		new_page = true;
	}
	if (new_page)
		begin_page(ring, time);
	uint64_t delta = time - ring->time;
	if (delta >> DELTA_BITS) {
		put_head(ring, TYPE_TIME_EXTEND, (uint32_t)(delta & ((1u << DELTA_BITS) - 1)));
		put_word(ring, (uint32_t)(delta >> DELTA_BITS));
		delta = 0;
	}
	if (len <= TYPE_LEN_MAX * WORD) {
		put_head(ring, (uint32_t)(len / WORD), (uint32_t)delta);
	} else {
		put_head(ring, 0, (uint32_t)delta);
		put_word(ring, (uint32_t)(len + WORD));
	}
	memset(ring->page + ring->used + len - WORD, 0, WORD);
	memcpy(ring->page + ring->used, record, size);
	ring->used += len;
	ring->time = time;
	return true;
}
