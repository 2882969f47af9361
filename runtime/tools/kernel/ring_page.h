/* SPDX-License-Identifier: MIT */
/* ring_page.h - the events in a page of the kernel's ring buffer. */
#ifndef RING_PAGE_H
#define RING_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How pages are laid out, as the kernel's events/header_page says. */
struct ring_layout {
	size_t page_size;
	uint32_t word; /* bytes of a long in the kernel */
	uint32_t data; /* where the events begin */
};

struct ring_page {
	const unsigned char *at, *end;
	uint64_t time; /* of the last event, in ticks of the instance's clock */
	uint64_t lost; /* events in front of the page; UINT64_MAX: nobody knows how many */
};

struct ring_event {
	uint64_t time;
	const unsigned char *record;
	uint32_t size; /* up to three bytes more than the record has */
};

/* False: the text describes no page that is known. */
bool ring_layout_read(struct ring_layout *layout, const char *header_page);

/* Of the bytes that were read. False: they are no page. */
bool ring_page_begin(struct ring_page *page, const struct ring_layout *layout, const unsigned char *bytes, size_t len);

/* False behind the last one. Nothing outside of the page is read, whatever is in it. */
bool ring_page_next(struct ring_page *page, struct ring_event *event);

#endif /* RING_PAGE_H */
