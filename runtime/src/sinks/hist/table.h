/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/table.h - a histogram's entries, by their keys. All threads and their signal handlers share one table, and
 * nobody waits for anybody:
 *
 * A key's entry is found by open addressing: a slot has some bits of the key's hash, and the entry's number. A new key's
 * entry is taken and filled in before a compare-and-exchange puts it into an empty slot: so whoever finds it there (I, an
 * acquire that pairs with the exchange's release) finds it whole. If another thread, or a handler, was first in that
 * slot, the search goes on there; if that was for the same key, the own entry goes to a list of spare ones. So no key is
 * there twice, and no entry gets lost. Entries never leave the table: clearing is another table.
 *
 * There are twice as many slots as entries: one is always empty, and each search ends.
 *
 * Behind its key, an entry has a place for each variable (variable.h), what onmax() and onchange() compare with, and what
 * save() has saved (variable.h). Blocks for that are in the table, too.
 *
 * Sums are added to by atomic instructions. Whoever reads the table meanwhile gets each number as it was at some moment,
 * but not all numbers as they were at the same one.
 */
#ifndef TP_HIST_TABLE_H
#define TP_HIST_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sinks/hist/definition.h"

/* Bytes of a text that belong to a key; as in the kernel. */
#define TP_HIST_TEXT_BYTES 255
/* Addresses of a stack. */
#define TP_HIST_STACK 16
#define TP_HIST_NAME 16 /* of a thread, with a NUL if it is shorter */

/* Words that a key of each kind has at most: a number; a text's length and its bytes; a stack's depth and its addresses. */
#define TP_HIST_NUMBER_WORDS 1u
#define TP_HIST_TEXT_WORDS (1u + (TP_HIST_TEXT_BYTES + 7u) / 8u)
#define TP_HIST_STACK_WORDS (1u + TP_HIST_STACK)
#define TP_HIST_KEY_WORDS (TP_HIST_KEYS * TP_HIST_TEXT_WORDS)

/* The keys of a hit, one behind the other. The last word of a text is filled up with zeros. */
struct tp_hist_key {
	uint32_t nr;
	uint64_t words[TP_HIST_KEY_WORDS];
};

struct tp_hist_entry {
	uint64_t hits;
	uint64_t sums[TP_HIST_VALUES];
	uint32_t nr_words;        /* of the key */
	uint32_t next_spare;      /* number + 1; 0: none */
	char comm[TP_HIST_NAME];  /* of the thread that made it, for .execname */
	uint64_t words[];
};

/* Of a key, a variable, or what an action passes on. */
enum tp_hist_kind {
	TP_HIST_KEY_NUMBER,
	TP_HIST_KEY_TEXT,
	TP_HIST_KEY_STACK,
};

/* Words of a text, or of a stack, that is not a key: a NUL or a 0 ends it. */
#define TP_HIST_BLOB_WORDS 32u

/* What there is room for in each entry. */
struct tp_hist_shape {
	uint32_t key_words;      /* of a key at most */
	uint32_t nr_variables, nr_actions;
	uint32_t block_words;    /* of what an action saves; 0: none does */
	uint8_t variables[TP_HIST_VARIABLES]; /* enum tp_hist_kind */
};

struct tp_hist_table {
	struct tp_hist_shape shape;
	uint32_t variables[TP_HIST_VARIABLES]; /* bytes from an entry's begin */
	uint32_t tracked, saved;               /* the same */
	char *blocks;
	uint32_t block_size, nr_blocks;
	uint64_t *slots;          /* 0: empty. Else bits of the hash << 32 | the entry's number + 1 */
	char *entries;
	uint32_t mask;            /* of a slot's number */
	uint32_t stride, nr_entries;
	size_t mapped;

	/* In a cache line of their own, as they change. */
	__attribute__((aligned(64))) uint64_t drops; /* hits for which there was no entry */
	uint64_t spare;           /* of entries that were never in a slot: changes << 32 | number + 1 */
	uint32_t next;            /* the first that was never taken, or beyond the last */
	uint64_t spare_block;     /* as spare */
	uint32_t next_block;
	uint64_t snapshot;        /* as the word of an entry that says what is saved: which entry has asked for a snapshot */
};

/* For 2^bits keys. NULL: no memory. Its pages come as they are touched. */
struct tp_hist_table *tp_hist_table_new(unsigned int bits, const struct tp_hist_shape *shape);
void tp_hist_table_free(struct tp_hist_table *table);

/* Makes it empty again, while nobody else is there: in a forked child. */
void tp_hist_table_forget(struct tp_hist_table *table);

/*
 * The key's entry; a new one if it has none yet, and then with_comm says whether it gets the thread's name. NULL: all are
 * taken, and the hit is counted in drops.
 */
struct tp_hist_entry *tp_hist_table_insert(struct tp_hist_table *table, const struct tp_hist_key *key, bool with_comm);

/* The key's entry, or NULL. */
struct tp_hist_entry *tp_hist_table_find(const struct tp_hist_table *table, const struct tp_hist_key *key);

static inline struct tp_hist_entry *tp_hist_entry_at(const struct tp_hist_table *table, uint32_t number)
{
	return (struct tp_hist_entry *)(table->entries + (size_t)number * table->stride);
}

static inline uint32_t tp_hist_entry_number(const struct tp_hist_table *table, const struct tp_hist_entry *entry)
{
	return (uint32_t)((size_t)((const char *)entry - table->entries) / table->stride);
}

/* Calls fct for each entry. Also while threads hit: those that come meanwhile may be missing. */
void tp_hist_table_each(const struct tp_hist_table *table, void (*fct)(const struct tp_hist_entry *entry, void *data), void *data);

#endif /* TP_HIST_TABLE_H */
