/* SPDX-License-Identifier: MIT */
/*
 * count/pairs.h - begins that wait for their ends, found by a key. Any thread, and any signal handler, may leave a begin or
 * take one, and nobody waits.
 *
 * A key's begins are in the places of one set. A place is free, busy, or has a begin, and its tag says which:
 *
 *	free -> busy   tp_pairs_begin(), by a compare-and-exchange
 *	has  -> busy   tp_pairs_end(), which takes the begin; tp_pairs_begin() in a full set, which forgets the oldest one
 *	busy -> has    whoever has made it busy, by a release (P): tp_pairs_end() reads the begin behind an acquire
 *	busy -> free   tp_pairs_end()
 *
 * The memory is bounded: if more begins of a set wait than it has places, the oldest is forgotten, and counted.
 */
#ifndef TP_PAIRS_H
#define TP_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "count/key.h"

/* Begins that may wait at a time; of one key, or of keys that share a set: TP_PAIRS_SET. */
#define TP_PAIRS 65536u
#define TP_PAIRS_SET 16u

/* Bytes of the begin's record that are kept, if any. */
#define TP_PAIRS_RECORD 512u

struct tp_pair_key {
	uint64_t hash, check; /* both are the same for two keys only if these are the same, but for 1 in 2^100 */
};

struct tp_pair {
	uint64_t check;
	uint64_t time;
	uint64_t data;  /* the caller's */
	uint32_t size;  /* of the record; 0: it was not kept */
};

struct tp_pairs {
	uint64_t *tags;       /* 0: free; 1: busy; else of the begin's key */
	struct tp_pair *pairs;
	char *records;        /* TP_PAIRS_RECORD bytes of each; NULL: none is kept */
	size_t mapped;
	uint64_t forgotten;   /* begins that were never answered, and whose place was needed */
	uint64_t unmatched;   /* ends without a begin */
};

/* False: no memory. Pages come as they are touched. */
bool tp_pairs_open(struct tp_pairs *pairs, bool with_records);
void tp_pairs_close(struct tp_pairs *pairs);

/* Makes it empty again, while nobody else is there: in a forked child. */
void tp_pairs_forget(struct tp_pairs *pairs);

struct tp_pair_key tp_pair_key_of(const struct tp_count_key *key);

/* A begin. record: its bytes, if they are kept; NULL otherwise. */
void tp_pairs_begin(struct tp_pairs *pairs, struct tp_pair_key key, const struct tp_pair *begin, const void *record);

/*
 * Takes the latest begin of the key, and its record, of TP_PAIRS_RECORD bytes, if records are kept. False: there is none,
 * and unmatched counts the end.
 */
bool tp_pairs_end(struct tp_pairs *pairs, struct tp_pair_key key, struct tp_pair *begin, void *record);

/* How many begins wait, and the earliest time of them. */
uint64_t tp_pairs_waiting(const struct tp_pairs *pairs, uint64_t *earliest);

#endif /* TP_PAIRS_H */
