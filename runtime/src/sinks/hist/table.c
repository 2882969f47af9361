/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/table.c - see table.h.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "filter/value.h"
#include "sinks/hist/table.h"
#include "sinks/hist/variable.h"

#define LINE 64u

/* ---- Memory: the head, the slots, the entries ---- */

/* Threads and handlers that are saving at one time may have one each, besides those that entries have. */
#define MORE_BLOCKS 64u

static size_t slots_size(const struct tp_hist_table *table)
{
	return ((size_t)table->mask + 1) * sizeof(*table->slots);
}

/* Where in an entry everything is. Returns its size. */
static uint32_t lay_out(struct tp_hist_table *table)
{
	const struct tp_hist_shape *shape = &table->shape;
	uint32_t at = (uint32_t)(sizeof(struct tp_hist_entry) + shape->key_words * sizeof(uint64_t));

	for (uint32_t i = 0; i < shape->nr_variables; i++) {
		const uint32_t words = shape->variables[i] == TP_HIST_KEY_NUMBER ? 0 : TP_HIST_BLOB_WORDS;
		table->variables[i] = at;
		at += (uint32_t)(sizeof(struct tp_hist_variable) + words * sizeof(uint64_t));
	}
	table->tracked = at;
	table->saved = at + shape->nr_actions * (uint32_t)sizeof(uint64_t);
	return table->saved + (shape->block_words ? (uint32_t)sizeof(uint64_t) : 0);
}

struct tp_hist_table *tp_hist_table_new(unsigned int bits, const struct tp_hist_shape *shape)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct tp_hist_table made = {.shape = *shape, .mask = (2u << bits) - 1, .nr_entries = 1u << bits};

	made.stride = (lay_out(&made) + LINE - 1) & ~(LINE - 1);
	if (shape->block_words) {
		made.block_size = (uint32_t)(sizeof(struct tp_hist_block) + shape->block_words * sizeof(uint64_t));
		made.nr_blocks = made.nr_entries + MORE_BLOCKS;
	}
	const size_t entries = (size_t)made.nr_entries * made.stride, blocks = (size_t)made.nr_blocks * made.block_size;
	made.mapped = page + slots_size(&made) + entries + blocks;
	void *memory = mmap(NULL, made.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	made.slots = (uint64_t *)((char *)memory + page);
	made.entries = (char *)memory + page + slots_size(&made);
	made.blocks = made.entries + entries;
	return memcpy(memory, &made, sizeof(made));
}

void tp_hist_table_free(struct tp_hist_table *table)
{
	if (table)
		munmap(table, table->mapped);
}

/* Not by madvise(), which a sandbox may forbid. */
void tp_hist_table_forget(struct tp_hist_table *table)
{
	const uint32_t used = table->next < table->nr_entries ? table->next : table->nr_entries;

	memset(table->slots, 0, slots_size(table));
	memset(table->entries, 0, (size_t)used * table->stride);
	table->next = 0;
	table->spare = 0;
	table->drops = 0;
	table->next_block = 0;
	table->spare_block = 0;
	table->snapshot = 0;
}

/* ---- Entries that are in no slot ---- */

/* number + 1; 0: there is none. What has changed since head was read is seen by its upper half. */
static uint32_t take_spare(struct tp_hist_table *table)
{
	uint64_t head = __atomic_load_n(&table->spare, __ATOMIC_ACQUIRE);

	while ((uint32_t)head) {
		const struct tp_hist_entry *entry = tp_hist_entry_at(table, (uint32_t)head - 1);
		const uint64_t next = __atomic_load_n(&entry->next_spare, __ATOMIC_RELAXED);
		const uint64_t change = ((head >> 32) + 1) << 32;
		if (__atomic_compare_exchange_n(&table->spare, &head, change | next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
			return (uint32_t)head;
	}
	return 0;
}

static void give_spare(struct tp_hist_table *table, uint32_t taken)
{
	struct tp_hist_entry *entry = tp_hist_entry_at(table, taken - 1);
	uint64_t head = __atomic_load_n(&table->spare, __ATOMIC_RELAXED);
	uint64_t change;

	do {
		__atomic_store_n(&entry->next_spare, (uint32_t)head, __ATOMIC_RELAXED);
		change = ((head >> 32) + 1) << 32;
	} while (!__atomic_compare_exchange_n(&table->spare, &head, change | taken, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

/* number + 1; 0: all are taken. next is not counted beyond the last one by every hit, or it would come round. */
static uint32_t take_entry(struct tp_hist_table *table)
{
	if (__atomic_load_n(&table->next, __ATOMIC_RELAXED) < table->nr_entries) {
		const uint32_t number = __atomic_fetch_add(&table->next, 1, __ATOMIC_RELAXED);
		if (number < table->nr_entries)
			return number + 1;
	}
	return take_spare(table);
}

static void fill_in(struct tp_hist_entry *entry, const struct tp_hist_key *key, bool with_comm)
{
	entry->nr_words = key->nr;
	memcpy(entry->words, key->words, key->nr * sizeof(key->words[0]));
	if (with_comm) {
		const struct tp_value_bytes comm = tp_value_comm();
		memset(entry->comm, 0, sizeof(entry->comm));
		memcpy(entry->comm, comm.at, comm.len);
	}
}

/* ---- Searching ---- */

static inline uint64_t hash_of(const struct tp_hist_key *key)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < key->nr; i++) {
		hash = (hash ^ key->words[i]) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	return hash * 0xd6e8feb86659fd93u;
}

static inline bool has_key(const struct tp_hist_entry *entry, const struct tp_hist_key *key)
{
	if (entry->nr_words != key->nr)
		return false;
	for (uint32_t i = 0; i < key->nr; i++) {
		if (entry->words[i] != key->words[i])
			return false;
	}
	return true;
}

/* The slot was empty. Its content afterwards; 0: there was no entry for it. mine is number + 1, or 0 as long as none is taken. */
static TP_COLD uint64_t occupy(struct tp_hist_table *table, uint64_t *slot, uint32_t tag, uint32_t *mine,
			       const struct tp_hist_key *key, bool with_comm)
{
	uint64_t found = 0;

	if (!*mine) {
		*mine = take_entry(table);
		if (!*mine)
			return 0;
		fill_in(tp_hist_entry_at(table, *mine - 1), key, with_comm);
	}
	const uint64_t content = (uint64_t)tag << 32 | *mine;
	if (!__atomic_compare_exchange_n(slot, &found, content, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
		return found;
	*mine = 0;
	return content;
}

struct tp_hist_entry *tp_hist_table_insert(struct tp_hist_table *table, const struct tp_hist_key *key, bool with_comm)
{
	const uint64_t hash = hash_of(key);
	const uint32_t tag = (uint32_t)(hash >> 32);
	uint32_t mine = 0;

	for (uint32_t i = (uint32_t)(hash >> 8) & table->mask;; i = (i + 1) & table->mask) {
		uint64_t content = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* (I) */
		if (__builtin_expect(!content, 0))
			content = occupy(table, &table->slots[i], tag, &mine, key, with_comm);
		if (__builtin_expect(!content, 0)) {
			__atomic_fetch_add(&table->drops, 1, __ATOMIC_RELAXED);
			return NULL;
		}
		struct tp_hist_entry *entry = tp_hist_entry_at(table, (uint32_t)content - 1);
		if ((uint32_t)(content >> 32) != tag || !has_key(entry, key))
			continue;
		if (__builtin_expect(mine != 0, 0))
			give_spare(table, mine);
		return entry;
	}
}

struct tp_hist_entry *tp_hist_table_find(const struct tp_hist_table *table, const struct tp_hist_key *key)
{
	const uint64_t hash = hash_of(key);
	uint64_t content;

	for (uint32_t i = (uint32_t)(hash >> 8) & table->mask;; i = (i + 1) & table->mask) {
		content = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* as (I) */
		if (!content)
			return NULL;
		struct tp_hist_entry *entry = tp_hist_entry_at(table, (uint32_t)content - 1);
		if ((uint32_t)(content >> 32) == (uint32_t)(hash >> 32) && has_key(entry, key))
			return entry;
	}
}

void tp_hist_table_each(const struct tp_hist_table *table, void (*fct)(const struct tp_hist_entry *entry, void *data), void *data)
{
	for (uint32_t i = 0; i <= table->mask; i++) {
		const uint64_t content = __atomic_load_n(&table->slots[i], __ATOMIC_ACQUIRE); /* as (I) */
		if (content)
			fct(tp_hist_entry_at(table, (uint32_t)content - 1), data);
	}
}
