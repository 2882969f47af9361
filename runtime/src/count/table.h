/* SPDX-License-Identifier: MIT */
/*
 * count/table.h - numbers that are added up under keys: a table of entries, by their keys, and the entries' counters. All
 * threads and their signal handlers share the entries, and nobody waits for anybody:
 *
 * A key's entry is found by open addressing: a slot has some bits of the key's hash, and the entry's number. A new key's
 * entry is taken and filled in before a compare-and-exchange puts it into an empty slot: so whoever finds it there (I, an
 * acquire that pairs with the exchange's release) finds it whole. If another thread, or a handler, was first in that
 * slot, the search goes on there; if that was for the same key, the own entry goes to a list of spare ones. So no key is
 * there twice, and no entry gets lost. Entries never leave the table: clearing is another table.
 *
 * There are twice as many slots as entries: one is always empty, and each search ends.
 *
 * What an entry counts is in the rows of counters.h, so that hits of one key don't meet. Behind the key there is room for
 * what the table's owner keeps in an entry.
 */
#ifndef TP_COUNT_TABLE_H
#define TP_COUNT_TABLE_H

#include "count/counters.h"
#include "count/key.h"

#define TP_COUNT_COMM 16 /* bytes of a thread's name, with a NUL if it is shorter */

struct tp_count_entry {
	uint32_t nr_words;        /* of the key */
	uint32_t next_spare;      /* number + 1; 0: none */
	char comm[TP_COUNT_COMM]; /* of the thread that made it, if the table's owner wants it */
	uint64_t words[];
};

struct tp_count_table {
	uint64_t *slots;          /* 0: empty. Else bits of the hash << 32 | the entry's number + 1 */
	char *entries;
	struct tp_counters *counters; /* nr_counters of each entry */
	uint32_t nr_counters;
	uint32_t mask;            /* of a slot's number */
	uint32_t stride, nr_entries;
	uint32_t extra;           /* bytes from an entry's begin to its owner's part, which is 0 at first */
	bool with_comm;
	size_t mapped;

	char rarely_written[64];  /* what is above shares no cache line with what is below */
	uint64_t drops; /* hits for which there was no entry */
	uint64_t spare;           /* of entries that were never in a slot: changes << 32 | number + 1 */
	uint32_t next;            /* the first that was never taken, or beyond the last */
};

/*
 * For 2^bits keys of so many words at most, each with so many counters, and extra bytes of the owner's. with_comm: an
 * entry gets the name of the thread that makes it. False: no memory. Pages come as they are touched.
 */
bool tp_count_table_open(struct tp_count_table *table, unsigned int bits, uint32_t key_words, uint32_t nr_counters, uint32_t extra,
			 bool with_comm);
void tp_count_table_close(struct tp_count_table *table);

/* Makes it empty again, while nobody else is there: in a forked child. */
void tp_count_table_forget(struct tp_count_table *table);

/* No entry has this number. */
#define TP_COUNT_NO_ENTRY UINT32_MAX

static inline struct tp_count_entry *tp_count_entry_at(const struct tp_count_table *table, uint32_t number)
{
	return (struct tp_count_entry *)(table->entries + (size_t)number * table->stride);
}

/* Where the search for a hash begins. */
static inline uint32_t tp_count_slot(const struct tp_count_table *table, uint64_t hash)
{
	return (uint32_t)(hash >> 46) & table->mask;
}

/* Whether the content of a slot is that key's. */
static inline bool tp_count_is(const struct tp_count_table *table, uint64_t content, uint64_t hash, const struct tp_count_key *key)
{
	const struct tp_count_entry *entry = tp_count_entry_at(table, (uint32_t)content - 1);

	if (content >> 32 != hash >> 32 || !content || entry->nr_words != key->nr)
		return false;
	for (uint32_t i = 0; i < key->nr; i++) {
		if (entry->words[i] != key->words[i])
			return false;
	}
	return true;
}

uint32_t tp_count_table_search(struct tp_count_table *table, const struct tp_count_key *key, uint64_t hash);

/* The number of the key's entry; of a new one if it has none yet. TP_COUNT_NO_ENTRY: all are taken, and drops counts the hit. */
static inline uint32_t tp_count_table_insert(struct tp_count_table *table, const struct tp_count_key *key)
{
	const uint64_t hash = tp_count_hash(key);
	const uint64_t content = __atomic_load_n(&table->slots[tp_count_slot(table, hash)], __ATOMIC_ACQUIRE); /* as (I) */

	if (__builtin_expect(tp_count_is(table, content, hash, key), 1))
		return (uint32_t)content - 1;
	return tp_count_table_search(table, key, hash);
}

/* The number of the key's entry, or TP_COUNT_NO_ENTRY. */
uint32_t tp_count_table_find(const struct tp_count_table *table, const struct tp_count_key *key);

/* The sum of one of the entry's counters. */
static inline uint64_t tp_count_sum(const struct tp_count_table *table, uint32_t number, uint32_t counter)
{
	return tp_counters_sum(table->counters, (size_t)number * table->nr_counters + counter);
}

/* Of entries that were ever taken; the most that tp_count_table_each() can find. */
uint32_t tp_count_table_used(const struct tp_count_table *table);

/* Calls fct with the number of each entry. Also while threads hit: those that come meanwhile may be missing. */
void tp_count_table_each(const struct tp_count_table *table, void (*fct)(uint32_t number, void *data), void *data);

#endif /* TP_COUNT_TABLE_H */
