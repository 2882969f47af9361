/* SPDX-License-Identifier: MIT */
/*
 * base/mutex.h - locks that readers take, too. base/rank.h has the order in
 * which locks nest.
 */
#ifndef TP_MUTEX_H
#define TP_MUTEX_H

#include <pthread.h>

#include "base/rank.h"

/* Taken inside tp_guard_enter() only, and by forks: readers take it, too. */
struct tp_mutex {
	pthread_mutex_t mutex;
	enum tp_rank rank;
	const char *name;
};

#define TP_MUTEX_INIT(lock_rank, lock_name) {.mutex = PTHREAD_MUTEX_INITIALIZER, .rank = (lock_rank), .name = (lock_name)}

static inline void tp_mutex_lock(struct tp_mutex *lock)
{
	tp_rank_check(lock->rank, lock->name);
	pthread_mutex_lock(&lock->mutex);
	tp_rank_enter(lock->rank, lock->name);
}

static inline void tp_mutex_unlock(struct tp_mutex *lock)
{
	tp_rank_leave(lock->rank);
	pthread_mutex_unlock(&lock->mutex);
}

#endif /* TP_MUTEX_H */
