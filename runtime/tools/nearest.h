/* SPDX-License-Identifier: MIT */
/* nearest.h - what somebody may have meant by a word that nothing is called. */
#ifndef NEAREST_H
#define NEAREST_H

#include <stddef.h>

struct nearest {
	const char *word;
	char name[256];
	size_t distance; /* letters that are missing, too many, wrong or in the wrong order */
};

/* Nothing so far. The word stays the caller's. */
struct nearest nearest_to(const char *word);

void nearest_offer(struct nearest *nearest, const char *name);

/* " (did you mean 'trace'?)", or "" where nothing is near; of a buffer that the next call uses again. */
const char *nearest_hint(const struct nearest *nearest);

#endif /* NEAREST_H */
