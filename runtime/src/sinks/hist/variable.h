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
void tp_hist_variable_set(const struct tp_hist_table *table, struct tp_hist_entry *entry, uint32_t i, uint64_t value);

/*
 * Its number, or its words in blob, whose address *value is then. once: it is not set any more, and only one reader gets
 * it. False: it is not set, or of another kind.
 */
bool tp_hist_variable_read(const struct tp_hist_table *table, struct tp_hist_entry *entry, uint32_t i, enum tp_hist_kind kind,
			   bool once, uint64_t *value, uint64_t *blob);

#endif /* TP_HIST_VARIABLE_H */
