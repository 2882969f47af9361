/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/table.h - a histogram's entries: those of count/table.h. The first counter is the hitcount, then come the
 * values. Behind its key, an entry has a place for each variable, what onmax() and onchange() compare with, and what
 * save() has saved (variable.h). Blocks for that are in the table, too.
 */
#ifndef TP_HIST_TABLE_H
#define TP_HIST_TABLE_H

#include "count/table.h"
#include "sinks/hist/definition.h"

/* Addresses of a stack. */
#define TP_HIST_STACK 16

/* Words that a key of each kind has at most: a number; a text's length and its bytes; a stack's depth and its addresses. */
#define TP_HIST_NUMBER_WORDS 1u
#define TP_HIST_TEXT_WORDS (1u + (TP_COUNT_TEXT_BYTES + 7u) / 8u)
#define TP_HIST_STACK_WORDS (1u + TP_HIST_STACK)
_Static_assert(TP_HIST_KEYS * TP_HIST_TEXT_WORDS <= TP_COUNT_KEY_WORDS, "all keys of a hit have room");

/* The keys of a hit are one behind the other. */

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
	uint32_t nr_values, nr_variables, nr_actions;
	uint32_t block_words;    /* of what an action saves; 0: none does */
	uint8_t variables[TP_HIST_VARIABLES]; /* enum tp_hist_kind */
	bool with_comm;          /* a key has .execname */
};

struct tp_hist_table {
	struct tp_count_table entries;
	struct tp_hist_shape shape;
	uint32_t variables[TP_HIST_VARIABLES]; /* bytes from an entry's begin */
	uint32_t tracked, saved;               /* the same */
	char *blocks;
	uint32_t block_size, nr_blocks;
	uint64_t spare_block;     /* as the entries' spare */
	uint32_t next_block;
	TP_WHOLE uint64_t snapshot;        /* as the word of an entry that says what is saved: which entry has asked for a snapshot */
};

/* For 2^bits keys. NULL: no memory. */
struct tp_hist_table *tp_hist_table_new(unsigned int bits, const struct tp_hist_shape *shape);
void tp_hist_table_free(struct tp_hist_table *table);

/* Makes it empty again, while nobody else is there: in a forked child. */
void tp_hist_table_forget(struct tp_hist_table *table);

#endif /* TP_HIST_TABLE_H */
