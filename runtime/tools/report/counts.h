/* SPDX-License-Identifier: MIT */
/* counts.h - what a summary counts: hits, and the intervals between two hits of an event in one thread. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/trace_dir.h"

/* Times in ns from the epoch. */
struct counts {
	uint64_t hits, first, last;
	uint64_t intervals, min, max;
	long double sum;
	uint64_t lost;
	bool lost_unknown; /* and more, of which nobody knows how many */
};

void counts_hit(struct counts *counts, uint64_t time);
void counts_interval(struct counts *counts, uint64_t ns);
void counts_lost(struct counts *counts, uint64_t lost); /* may be TRACE_LOST_UNKNOWN */

/* Numbers of keys, each of which is two numbers: a hash table. Zeros are none. */
struct keys {
	struct key {
		uint64_t a, b;
		size_t index; /* from 1 on; 0: there is none here */
	} *table;
	size_t size, nr;
};

/* The index of the key, from 0 on, as the keys have come; *is_new. False, and a message: there is no memory. */
bool key_index(struct keys *keys, uint64_t a, uint64_t b, size_t *index, bool *is_new);
void keys_free(struct keys *keys);

/* A number for the bytes behind what another number is of, 0: nothing. Equal numbers of different texts are not to be expected. */
uint64_t key_of_text(uint64_t before, const char *text, size_t len);

#endif /* COUNTS_H */
