/* SPDX-License-Identifier: MIT */
/*
 * base/mutex.c - the check that locks are taken in their order.
 */
#include "base/mutex.h"

#if TP_CHECK_RANKS

#include <stdlib.h>

#include "base/base.h"
#include "base/message.h"

/* A fork holds all locks at once, those of many sinks among them. */
#define MOST 64

static TP_THREAD_LOCAL struct {
	enum tp_rank rank;
	const char *name;
} held[MOST]; /* in the order in which they were taken */

static TP_THREAD_LOCAL unsigned int nr_held;

void tp_rank_check(enum tp_rank rank, const char *name)
{
	for (unsigned int i = 0; i < nr_held; i++) {
		if (held[i].rank < rank || (held[i].rank == rank && rank == TP_RANK_SINK))
			continue;
		tp_complain("%s (rank %d) is taken against the order of locks: this thread holds %s (rank %d); base/mutex.h "
			    "has the order",
			    name, (int)rank, held[i].name, (int)held[i].rank);
		abort();
	}
}

/* A signal handler that comes in between leaves alone what the number covers. */
void tp_rank_enter(enum tp_rank rank, const char *name)
{
	if (nr_held == MOST) {
		tp_complain("%s: this thread holds more locks than can be checked", name);
		abort();
	}
	const unsigned int i = nr_held++;
	tp_barrier();
	held[i].name = name;
	held[i].rank = rank;
}

/* The last that was taken of this rank. */
void tp_rank_leave(enum tp_rank rank)
{
	unsigned int i = nr_held;

	while (i > 0 && held[i - 1].rank != rank)
		i--;
	if (i == 0) {
		tp_complain("a lock of rank %d is given back that this thread does not hold", (int)rank);
		abort();
	}
	for (; i < nr_held; i++)
		held[i - 1] = held[i];
	held[nr_held - 1].rank = TP_RANK_NONE; /* as the next to be taken finds it */
	tp_barrier();
	nr_held--;
}

#else

typedef int tp_rank_is_not_checked; /* ISO C wants a declaration in each file */

#endif
