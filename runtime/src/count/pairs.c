/* SPDX-License-Identifier: MIT */
/*
 * count/pairs.c - see pairs.h. Whoever finds that another one has changed a place meanwhile looks through the set again,
 * TRIES times at most.
 */
#include <string.h>
#include <sys/mman.h>

#include "count/pairs.h"

enum { FREE, BUSY, TAGS };

#define TRIES 8
#define NONE UINT32_MAX

static size_t size_of(bool with_records)
{
	return TP_PAIRS * (sizeof(uint64_t) + sizeof(struct tp_pair) + (with_records ? TP_PAIRS_RECORD : 0));
}

bool tp_pairs_open(struct tp_pairs *pairs, bool with_records)
{
	const size_t size = size_of(with_records);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	*pairs = (struct tp_pairs){.tags = memory, .mapped = size};
	pairs->pairs = (struct tp_pair *)(pairs->tags + TP_PAIRS);
	pairs->records = with_records ? (char *)(pairs->pairs + TP_PAIRS) : NULL;
	return true;
}

void tp_pairs_close(struct tp_pairs *pairs)
{
	if (pairs->tags)
		munmap(pairs->tags, pairs->mapped);
}

void tp_pairs_forget(struct tp_pairs *pairs)
{
	memset(pairs->tags, 0, TP_PAIRS * sizeof(*pairs->tags));
	pairs->forgotten = 0;
	pairs->unmatched = 0;
}

/* A single number is told apart exactly. */
struct tp_pair_key tp_pair_key_of(const struct tp_count_key *key)
{
	uint64_t check = key->words[0];

	for (uint32_t i = 1; i < key->nr; i++) {
		check = (check << 29 | check >> 35) * 0xd6e8feb86659fd93u;
		check ^= key->words[i] ^ check >> 32;
	}
	return (struct tp_pair_key){.hash = tp_count_hash(key), .check = check};
}

static uint64_t tag_of(struct tp_pair_key key)
{
	return key.hash | TAGS;
}

static uint32_t set_of(struct tp_pair_key key)
{
	return (uint32_t)(key.hash >> 40) % (TP_PAIRS / TP_PAIRS_SET) * TP_PAIRS_SET;
}

static bool occupy(struct tp_pairs *pairs, uint32_t place, uint64_t tag)
{
	return __atomic_compare_exchange_n(&pairs->tags[place], &tag, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static uint64_t time_of(const struct tp_pairs *pairs, uint32_t place)
{
	return __atomic_load_n(&pairs->pairs[place].time, __ATOMIC_RELAXED);
}

/* ---- Begins ---- */

static uint32_t free_place(const struct tp_pairs *pairs, uint32_t set)
{
	for (uint32_t i = set; i < set + TP_PAIRS_SET; i++) {
		if (__atomic_load_n(&pairs->tags[i], __ATOMIC_RELAXED) == FREE)
			return i;
	}
	return NONE;
}

static uint32_t oldest(const struct tp_pairs *pairs, uint32_t set, uint64_t *tag)
{
	uint32_t found = NONE;

	for (uint32_t i = set; i < set + TP_PAIRS_SET; i++) {
		const uint64_t has = __atomic_load_n(&pairs->tags[i], __ATOMIC_RELAXED);
		if (has < TAGS || (found != NONE && time_of(pairs, i) >= time_of(pairs, found)))
			continue;
		found = i;
		*tag = has;
	}
	return found;
}

/* Makes a place busy. NONE: all are, by others that are at work just now. */
static uint32_t take_place(struct tp_pairs *pairs, uint32_t set)
{
	for (int i = 0; i < TRIES; i++) {
		uint64_t tag = FREE;
		uint32_t place = free_place(pairs, set);
		if (place == NONE)
			place = oldest(pairs, set, &tag);
		if (place == NONE || !occupy(pairs, place, tag))
			continue;
		if (tag != FREE)
			__atomic_fetch_add(&pairs->forgotten, 1, __ATOMIC_RELAXED);
		return place;
	}
	return NONE;
}

void tp_pairs_begin(struct tp_pairs *pairs, struct tp_pair_key key, const struct tp_pair *begin, const void *record)
{
	const uint32_t place = take_place(pairs, set_of(key));

	if (place == NONE) {
		__atomic_fetch_add(&pairs->forgotten, 1, __ATOMIC_RELAXED);
		return;
	}
	struct tp_pair *pair = &pairs->pairs[place];
	pair->check = key.check;
	pair->data = begin->data;
	pair->size = record && pairs->records && begin->size <= TP_PAIRS_RECORD ? begin->size : 0;
	if (pair->size)
		memcpy(pairs->records + (size_t)place * TP_PAIRS_RECORD, record, pair->size);
	__atomic_store_n(&pair->time, begin->time, __ATOMIC_RELAXED); /* others look for the oldest meanwhile */
	__atomic_store_n(&pairs->tags[place], tag_of(key), __ATOMIC_RELEASE); /* (P) */
}

/* ---- Ends ---- */

static uint32_t latest(const struct tp_pairs *pairs, uint32_t set, uint64_t tag)
{
	uint32_t found = NONE;

	for (uint32_t i = set; i < set + TP_PAIRS_SET; i++) {
		if (__atomic_load_n(&pairs->tags[i], __ATOMIC_RELAXED) == tag &&
		    (found == NONE || time_of(pairs, i) > time_of(pairs, found)))
			found = i;
	}
	return found;
}

bool tp_pairs_end(struct tp_pairs *pairs, struct tp_pair_key key, struct tp_pair *begin, void *record)
{
	const uint64_t tag = tag_of(key);

	for (int i = 0; i < TRIES; i++) {
		const uint32_t place = latest(pairs, set_of(key), tag);
		if (place == NONE)
			break;
		if (!occupy(pairs, place, tag))
			continue;
		*begin = pairs->pairs[place];
		const bool is_it = begin->check == key.check;
		if (is_it && begin->size)
			memcpy(record, pairs->records + (size_t)place * TP_PAIRS_RECORD, begin->size);
		__atomic_store_n(&pairs->tags[place], is_it ? (uint64_t)FREE : tag, __ATOMIC_RELEASE);
		if (is_it)
			return true;
		break;
	}
	__atomic_fetch_add(&pairs->unmatched, 1, __ATOMIC_RELAXED);
	return false;
}

uint64_t tp_pairs_waiting(const struct tp_pairs *pairs, uint64_t *earliest)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < TP_PAIRS; i++) {
		if (__atomic_load_n(&pairs->tags[i], __ATOMIC_ACQUIRE) < TAGS)
			continue;
		const uint64_t time = time_of(pairs, i);
		if (!nr++ || time < *earliest)
			*earliest = time;
	}
	return nr;
}
