/* SPDX-License-Identifier: MIT */
/*
 * base/fork.h - what is done around a fork. Whoever has a thread or something that
 * is the process's own registers a hook at its first use.
 */
#ifndef TP_FORK_H
#define TP_FORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mutex.h"

/*
 * All but the rank is optional. The functions are called in the thread that
 * forks, with all signals blocked: before() and in_child() in order of the
 * ranks, after() in the opposite order. Of two hooks of one rank, the one that
 * was registered first counts as the lower.
 */
struct tp_fork_hook {
	struct tp_fork_hook *next; /* fork.c's, as is the next one */
	uint32_t bit;
	enum tp_rank rank;
	struct tp_mutex *lock;     /* of locks.c: held from before() to after(), free in the child */
	void (*before)(void);      /* takes what is not in locks.h */
	void (*in_child)(void);    /* in the child, while all locks are held: what was the parent's becomes its own */
	void (*after)(bool child); /* in both: gives back what before() has taken */
	void (*resume)(void);      /* in the child, when no lock is held: what makes threads */
};

void tp_fork_start(void); /* once a process */

/* Static memory; for ever. A second call for one hook does nothing. Not while holding a lock. */
void tp_fork_register(struct tp_fork_hook *hook);

#endif /* TP_FORK_H */
