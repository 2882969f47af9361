/* SPDX-License-Identifier: MIT */
#include "kernel/ring_page.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/ring_words.h"

#define WORD ((ptrdiff_t)sizeof(uint32_t))
#define PAGE_SIZE_MAX ((size_t)1 << 20)

/* ---- The layout ---- */

static bool number_of(const char *line, const char *key, unsigned long *number)
{
	const char *at = line ? strstr(line, key) : NULL;
	char *end;

	if (!at)
		return false;
	*number = strtoul(at + strlen(key), &end, 10);
	return *end == ';';
}

bool ring_layout_read(struct ring_layout *layout, const char *header_page)
{
	const char *commit = strstr(header_page, " commit;"), *data = strstr(header_page, " data;");
	unsigned long word, at, size;

	if (!number_of(commit, "size:", &word) || !number_of(data, "offset:", &at) || !number_of(data, "size:", &size))
		return false;
	if ((word != 4 && word != 8) || at != sizeof(uint64_t) + word || size < 64 || at + size > PAGE_SIZE_MAX)
		return false;
	*layout = (struct ring_layout){.page_size = at + size, .word = (uint32_t)word, .data = (uint32_t)at};
	return true;
}

/* ---- A page ---- */

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static uint64_t long_at(const struct ring_layout *layout, const unsigned char *at)
{
	uint64_t wide;

	if (layout->word == sizeof(uint32_t))
		return word_at(at);
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

bool ring_page_begin(struct ring_page *page, const struct ring_layout *layout, const unsigned char *bytes, size_t len)
{
	if (len < layout->data)
		return false;
	const uint64_t commit = long_at(layout, bytes + sizeof(uint64_t));
	const uint64_t used = commit & COMMIT_MASK;
	if (used > len - layout->data)
		return false;
	*page = (struct ring_page){.at = bytes + layout->data, .end = bytes + layout->data + used};
	memcpy(&page->time, bytes, sizeof(page->time));
	if (!(commit & EVENTS_LOST))
		return true;
	const bool is_stored = commit & EVENTS_LOST_STORED && used + layout->word <= len - layout->data;
	page->lost = is_stored ? long_at(layout, page->end) : UINT64_MAX;
	return true;
}

/* A stamp's upper bits are those of the time so far, or of the one after. */
static uint64_t whole_stamp(uint64_t stamp, uint64_t before)
{
	const uint64_t upper = ~(((uint64_t)1 << EXTEND_BITS) - 1);
	const uint64_t time = stamp | (before & upper);

	return time < before && (before & upper) ? time + ((uint64_t)1 << EXTEND_BITS) : time;
}

bool ring_page_next(struct ring_page *page, struct ring_event *event)
{
	while (page->end - page->at >= WORD) {
		const uint32_t head = word_at(page->at);
		const uint32_t type = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? head & ((1u << (32 - DELTA_BITS)) - 1) : head >> DELTA_BITS;
		const uint64_t delta = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? head >> (32 - DELTA_BITS) : head & ((1u << DELTA_BITS) - 1);
		const bool is_short = type > 0 && type <= TYPE_LEN_MAX;
		page->at += WORD;
		if (is_short) {
			event->size = type * (uint32_t)WORD;
		} else {
			if (page->end - page->at < WORD)
				break;
			event->size = word_at(page->at); /* or the upper bits of a time */
			page->at += WORD;
		}
		if (type == TYPE_TIME_EXTEND || type == TYPE_TIME_STAMP) {
			const uint64_t time = delta | (uint64_t)event->size << DELTA_BITS;
			page->time = type == TYPE_TIME_EXTEND ? page->time + time : whole_stamp(time, page->time);
			continue;
		}
		if (!is_short && event->size < (uint32_t)WORD)
			break;
		if (!is_short)
			event->size -= (uint32_t)WORD;
		if (type == TYPE_PADDING && !delta) /* nothing behind it */
			break;
		if (event->size > (size_t)(page->end - page->at))
			break;
		event->record = page->at;
		page->at += (event->size + WORD - 1) / WORD * WORD;
		if (page->at > page->end)
			page->at = page->end;
		page->time += delta;
		event->time = page->time;
		if (type != TYPE_PADDING)
			return true;
	}
	page->at = page->end;
	return false;
}
