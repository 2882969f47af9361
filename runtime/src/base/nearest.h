/* SPDX-License-Identifier: MIT */
/* base/nearest.h - what somebody may have meant by a word that nothing is called. tp has it, too. */
#ifndef TP_NEAREST_H
#define TP_NEAREST_H

#include <stddef.h>

struct tp_nearest {
	const char *word;
	size_t len;
	size_t distance; /* letters that are missing, too many, wrong or in the wrong order */
	char name[256];  /* "": nothing is near */
	char hint[300];
};

/* Nothing so far. The word stays the caller's, and need not end in a NUL. */
struct tp_nearest tp_nearest_to(const char *word, size_t len);

void tp_nearest_offer(struct tp_nearest *nearest, const char *name);

/* "did you mean 'trace'?" between these two; or "" where nothing is near. It is in *nearest. */
const char *tp_nearest_hint(struct tp_nearest *nearest, const char *before, const char *after);

#endif /* TP_NEAREST_H */
