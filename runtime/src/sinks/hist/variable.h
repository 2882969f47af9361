/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/variable.h - the variables of an entry, which other histograms read at the same key. Any thread may set one
 * while any other reads it, and so may their signal handlers; nobody waits.
 */
#ifndef TP_HIST_VARIABLE_H
#define TP_HIST_VARIABLE_H

#include "sinks/hist/table.h"

/*
 * A number is published by set. It may be overwritten before it is read, and then the later one is read, as in the kernel.
 * A text, or a stack, has in value how often that was changed, times 2, and one more while it is being written: so nobody
 * gets parts of two. A handler that interrupts the writing does not set it, nor read it.
 */
struct tp_hist_variable {
	uint64_t value;
	uint32_t set;
	uint64_t words[];
};

/* value is the number, or the address of TP_HIST_BLOB_WORDS words. */
void tp_hist_variable_set(const struct tp_hist_table *table, struct tp_count_entry *entry, uint32_t i, uint64_t value);

/*
 * Its number, or its words in blob, whose address *value is then. once: it is not set any more, and only one reader gets
 * it. False: it is not set, or of another kind.
 */
bool tp_hist_variable_read(const struct tp_hist_table *table, struct tp_count_entry *entry, uint32_t i, enum tp_hist_kind kind,
			   bool once, uint64_t *value, uint64_t *blob);

/*
 * What save() saves, and which entry has asked for a snapshot: a value, and some words that belong to
 * it. Any thread may replace them, and so may its signal handlers; nobody waits, and nobody gets parts of two.
 *
 * They are in a block of the table. A new block is filled in, and put into the old one's place by a compare-and-exchange
 * of its number, beside which is how often that was done: who has read a block finds there whether it was still the same.
 */

struct tp_hist_block {
	uint64_t value;
	uint32_t next_spare; /* number + 1; 0: none */
	uint64_t words[];
};

/* Whether a value takes the place of an older one, which is 0 at the beginning. */
static inline bool tp_hist_exceeds(enum tp_hist_handler handler, uint64_t older, uint64_t value)
{
	return handler == TP_HIST_ONMAX ? value > older : value != older;
}

/* The entry's; or the table's, of snapshots. */
static inline uint64_t *tp_hist_saved_of(const struct tp_hist_table *table, struct tp_count_entry *entry)
{
	return (uint64_t *)((char *)entry + table->saved);
}

/*
 * Saves the value and the words, if the value takes the older one's place; fill_in gets the words of a block, and is called
 * at most once. False: it does not; or more threads than there are blocks are here.
 */
bool tp_hist_save(struct tp_hist_table *table, uint64_t *saved, enum tp_hist_handler handler, uint64_t value,
		  void (*fill_in)(uint64_t *words, void *data), void *data);

/* Copies the value and all words. False: nothing was saved. */
bool tp_hist_saved_copy(const struct tp_hist_table *table, const uint64_t *saved, uint64_t *value, uint64_t *words);

#endif /* TP_HIST_VARIABLE_H */
