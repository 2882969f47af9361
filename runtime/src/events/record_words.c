/* SPDX-License-Identifier: MIT */
/*
 * events/record_words.c - see record_words.h.
 */
#include <stdalign.h>
#include <string.h>

#include "base/text.h"
#include "events/events.h"
#include "events/record_words.h"

static const char null_text[] = "(null)";

/* ---- Payloads ---- */

/* Measured once: another thread may make it longer. */
struct payload {
	const void *at;
	tp_data_loc_t loc; /* wrong in a record that is refused, because it is too long */
	uint16_t count_at; /* of a stack: where the hidden number of its elements is */
};

/* Each takes the record's size so far, and returns it with the payload. */
static uint32_t measure_text(struct payload *payload, const struct tp_word_step *step, const uint64_t *word, uint32_t size)
{
	const char *at = (const char *)(uintptr_t)*word;
	uint32_t most = step->most;

	if (most == TP_WORD_STAR)
		most = tp_words_most((int)word[-1]);
	if (!at) /* as glibc's printf has it */
		at = most >= strlen(null_text) ? null_text : "";
	uint32_t len = (uint32_t)strnlen(at, most) + 1; /* no more is read than counts */
	payload->at = at;
	payload->loc = len << 16 | size;
	return size + len;
}

static uint32_t align_up(uint32_t size, uint32_t align)
{
	return (size + align - 1) & ~(align - 1);
}

/* As tp_size_array() has it. */
static uint32_t measure_stack(struct payload *payload, const uint64_t *word, uint32_t size)
{
	const uint64_t *at = (const uint64_t *)(uintptr_t)*word;
	uint32_t nr = 0;

	while (at && nr < TP_WORDS_STACK_MAX && at[nr])
		nr++;
	payload->at = at;
	payload->count_at = (uint16_t)align_up(size, alignof(uint16_t));
	size = align_up(align_up(size, alignof(uint16_t)) + (uint32_t)sizeof(uint16_t), alignof(unsigned long));
	payload->loc = nr * (uint32_t)sizeof(unsigned long) << 16 | size;
	return size + nr * (uint32_t)sizeof(unsigned long);
}

static void store_text(char *entry, uint32_t offset, const struct payload *payload)
{
	char *to = entry + (payload->loc & 0xffff);
	size_t len = payload->loc >> 16;

	*(tp_data_loc_t *)(void *)(entry + offset) = payload->loc;
	memcpy(to, payload->at, len - 1);
	to[len - 1] = '\0';
}

static void store_stack(char *entry, uint32_t offset, const struct payload *payload)
{
	const uint64_t *at = payload->at;
	unsigned long *to = (unsigned long *)(void *)(entry + (payload->loc & 0xffff));
	const uint16_t nr = (uint16_t)((payload->loc >> 16) / sizeof(*to));

	*(tp_data_loc_t *)(void *)(entry + offset) = payload->loc;
	*(uint16_t *)(void *)(entry + payload->count_at) = nr;
	for (uint16_t i = 0; i < nr; i++)
		to[i] = (unsigned long)at[i];
}

/* ---- The others ---- */

static void store_number(void *at, uint16_t size, uint64_t word)
{
	switch (size) {
	case 8:
		memcpy(at, &word, sizeof(word)); /* it may be a double */
		break;
	case 4:
		*(uint32_t *)at = (uint32_t)word;
		break;
	case 2:
		*(uint16_t *)at = (uint16_t)word;
		break;
	default:
		*(uint8_t *)at = (uint8_t)word;
		break;
	}
}

/* With a NUL behind it, and nothing of what the memory had before. */
static void store_array(char *to, uint16_t size, uint64_t word)
{
	const char *at = word ? (const char *)(uintptr_t)word : null_text;
	size_t len = strnlen(at, size - 1u);

	memcpy(to, at, len);
	memset(to + len, 0, size - len);
}

void tp_words_write(struct tp_sink *sink, const struct tp_event *event, const struct tp_words *to, const uint64_t *words)
{
	const struct tp_word_step *step;
	struct payload payloads[TP_WORDS_PAYLOADS_MAX], *payload = payloads;
	uint32_t size = event->event_class->fixed_size;
	struct tp_record rec;

	for (step = to->payloads; step < to->numbers; step++, payload++) {
		size = step->is_stack ? measure_stack(payload, &words[step->word], size)
				      : measure_text(payload, step, &words[step->word], size);
	}
	char *entry = tp_reserve(&rec, sink, event, size);
	if (!entry)
		return;
	for (step = to->numbers; step < to->arrays; step++)
		store_number(entry + step->offset, step->size, words[step->word]);
	for (step = to->arrays; step < to->end; step++)
		store_array(entry + step->offset, step->size, words[step->word]);
	for (step = to->payloads, payload = payloads; step < to->numbers; step++, payload++) {
		if (step->is_stack)
			store_stack(entry, step->offset, payload);
		else
			store_text(entry, step->offset, payload);
	}
	tp_commit(&rec);
}

/*
 * The event of a record's id. Ids are given out one after the other, and stay with their layout.
 */

#define IDS_A_PAGE 256u

static const struct tp_event **pages[TP_NR_IDS / IDS_A_PAGE];

bool tp_by_id_set(uint16_t id, const struct tp_event *event)
{
	const struct tp_event ***page = &pages[id / IDS_A_PAGE];

	if (!*page) {
		const struct tp_event **fresh = tp_malloc(IDS_A_PAGE * sizeof(*fresh));
		if (!fresh)
			return false;
		memset(fresh, 0, IDS_A_PAGE * sizeof(*fresh));
		__atomic_store_n(page, fresh, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&(*page)[id % IDS_A_PAGE], event, __ATOMIC_RELEASE);
	return true;
}

const struct tp_event *tp_by_id(uint16_t id)
{
	const struct tp_event **page = __atomic_load_n(&pages[id / IDS_A_PAGE], __ATOMIC_ACQUIRE);

	return page ? __atomic_load_n(&page[id % IDS_A_PAGE], __ATOMIC_ACQUIRE) : NULL;
}
