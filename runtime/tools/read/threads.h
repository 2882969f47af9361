/* SPDX-License-Identifier: MIT */
/* threads.h - which threads a trace is of, and their names. */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "read/metadata.h"

struct thread {
	int32_t tid; /* 0: no thread's place */
	char name[COMM_SIZE];
};

/* Zeros are none. */
struct threads {
	struct thread *places; /* a hash table */
	size_t size, nr;
};

/* The thread has this name, of at most COMM_SIZE bytes, until a later call gives it another. False, and a message. */
bool threads_add(struct threads *threads, int32_t tid, const char *name);

void threads_free(struct threads *threads);

#endif /* THREADS_H */
