/* SPDX-License-Identifier: MIT */
/*
 * count/table.c - entries are found, and new ones made.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "filter/here.h"
#include "count/table.h"

/* Bytes to which entries are aligned: two short ones in a cache line. */
#define ALIGN 32u

static size_t slots_size(const struct tp_count_table *table)
{
	return ((size_t)table->mask + 1) * sizeof(*table->slots);
}

bool tp_count_table_open(struct tp_count_table *table, unsigned int bits, uint32_t key_words, uint32_t nr_counters, uint32_t extra,
			 bool with_comm)
{
	const uint32_t at = (uint32_t)(sizeof(struct tp_count_entry) + key_words * sizeof(uint64_t));

	*table = (struct tp_count_table){
		.mask = (2u << bits) - 1, .nr_entries = 1u << bits, .extra = at, .stride = (at + extra + ALIGN - 1) & ~(ALIGN - 1),
		.nr_counters = nr_counters, .with_comm = with_comm,
	};
	table->mapped = slots_size(table) + (size_t)table->nr_entries * table->stride;
	void *memory = mmap(NULL, table->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	table->slots = memory;
	table->entries = (char *)memory + slots_size(table);
	table->counters = tp_counters_new((size_t)table->nr_entries * nr_counters);
	if (!table->counters)
		munmap(memory, table->mapped);
	return table->counters != NULL;
}

void tp_count_table_close(struct tp_count_table *table)
{
	tp_counters_free(table->counters);
	munmap(table->slots, table->mapped);
}

/* Not by madvise(), which a sandbox may forbid. */
void tp_count_table_forget(struct tp_count_table *table)
{
	if (!tp_count_table_used(table)) /* nor was anything counted */
		return;
	memset(table->slots, 0, slots_size(table));
	memset(table->entries, 0, (size_t)tp_count_table_used(table) * table->stride);
	tp_counters_forget(table->counters);
	table->next = 0;
	table->spare = 0;
	table->drops = 0;
}

uint32_t tp_count_table_used(const struct tp_count_table *table)
{
	const uint32_t next = __atomic_load_n(&table->next, __ATOMIC_RELAXED);

	return next < table->nr_entries ? next : table->nr_entries;
}

/* ---- Keys ---- */

/* ---- Entries that are in no slot ---- */

/* number + 1; 0: there is none. What has changed since head was read is seen by its upper half. */
static uint32_t take_spare(struct tp_count_table *table)
{
	uint64_t head = __atomic_load_n(&table->spare, __ATOMIC_ACQUIRE);

	while ((uint32_t)head) {
		const struct tp_count_entry *entry = tp_count_entry_at(table, (uint32_t)head - 1);
		const uint64_t next = __atomic_load_n(&entry->next_spare, __ATOMIC_RELAXED);
		const uint64_t change = ((head >> 32) + 1) << 32;
		if (__atomic_compare_exchange_n(&table->spare, &head, change | next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	return 0;
}

static void give_spare(struct tp_count_table *table, uint32_t taken)
{
	struct tp_count_entry *entry = tp_count_entry_at(table, taken - 1);
	uint64_t head = __atomic_load_n(&table->spare, __ATOMIC_RELAXED);
	uint64_t change;

	do {
		__atomic_store_n(&entry->next_spare, (uint32_t)head, __ATOMIC_RELAXED);
		change = ((head >> 32) + 1) << 32;
	} while (!__atomic_compare_exchange_n(&table->spare, &head, change | taken, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* number + 1; 0: all are taken. next is not counted beyond the last one by every hit, or it would come round. */
static uint32_t take_entry(struct tp_count_table *table)
{
	if (__atomic_load_n(&table->next, __ATOMIC_RELAXED) < table->nr_entries) {
		const uint32_t number = __atomic_fetch_add(&table->next, 1, __ATOMIC_RELAXED);
		if (number < table->nr_entries)
			return number + 1;
	}
	return take_spare(table);
}

static void fill_in(const struct tp_count_table *table, struct tp_count_entry *entry, const struct tp_count_key *key)
{
	entry->nr_words = key->nr;
	memcpy(entry->words, key->words, key->nr * sizeof(key->words[0]));
	if (table->with_comm) {
		const struct tp_value_bytes comm = tp_here_comm();
		memset(entry->comm, 0, sizeof(entry->comm));
		memcpy(entry->comm, comm.at, comm.len);
	}
}

/* ---- Searching ---- */

/* The slot was empty. Its content afterwards; 0: there was no entry for it. mine is number + 1, or 0 as long as none is taken. */
static TP_COLD uint64_t occupy(struct tp_count_table *table, uint64_t *slot, uint32_t tag, uint32_t *mine,
			       const struct tp_count_key *key)
{
	uint64_t found = 0;

	if (!*mine) {
		*mine = take_entry(table);
		if (!*mine)
			return 0;
		fill_in(table, tp_count_entry_at(table, *mine - 1), key);
	}
	const uint64_t content = (uint64_t)tag << 32 | *mine;
	if (!__atomic_compare_exchange_n(slot, &found, content, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return found;
	*mine = 0;
	return content;
}

uint32_t tp_count_table_search(struct tp_count_table *table, const struct tp_count_key *key, uint64_t hash)
{
	uint32_t mine = 0;

	for (uint32_t i = tp_count_slot(table, hash);; i = (i + 1) & table->mask) {
		uint64_t content = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* (I) */
		if (!content)
			content = occupy(table, &table->slots[i], (uint32_t)(hash >> 32), &mine, key);
		if (!content) {
			__atomic_fetch_add(&table->drops, 1, __ATOMIC_RELAXED);
			return TP_COUNT_NO_ENTRY;
		}
		if (!tp_count_is(table, content, hash, key))
			continue;
		if (mine)
			give_spare(table, mine);
		return (uint32_t)content - 1;
	}
}

uint32_t tp_count_table_find(const struct tp_count_table *table, const struct tp_count_key *key)
{
	const uint64_t hash = tp_count_hash(key);

	for (uint32_t i = tp_count_slot(table, hash);; i = (i + 1) & table->mask) {
		const uint64_t content = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* as (I) */
		if (!content)
			return TP_COUNT_NO_ENTRY;
		if (tp_count_is(table, content, hash, key))
			return (uint32_t)content - 1;
	}
}

void tp_count_table_each(const struct tp_count_table *table, void (*fct)(uint32_t number, void *data), void *data)
{
	for (uint32_t i = 0; i <= table->mask; i++) {
		const uint64_t content = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* as (I) */
		if (content)
			fct((uint32_t)content - 1, data);
	}
}
