/* SPDX-License-Identifier: MIT */
/*
 * base/mutex.c - see mutex.h.
 */
#include "base/mutex.h"

void tp_mutex_lock(struct tp_mutex *lock)
{
	tp_rank_check(lock->rank, lock->name);
	pthread_mutex_lock(&lock->mutex);
	tp_rank_enter(lock->rank, lock->name);
}

void tp_mutex_unlock(struct tp_mutex *lock)
{
	tp_rank_leave(lock->rank);
	pthread_mutex_unlock(&lock->mutex);
}
