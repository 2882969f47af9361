/* SPDX-License-Identifier: MIT */
/*
 * base/lock.c - see lock.h.
 */
#include "base/lock.h"
#include "base/readers.h"

void tp_lock(struct tp_lock *lock)
{
	int state;

	tp_readers_register_thread();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	tp_mutex_lock(&lock->mutex);
	lock->cancel_state = state;
}

bool tp_try_lock(struct tp_lock *lock)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (pthread_mutex_trylock(&lock->mutex.mutex) != 0) {
		pthread_setcancelstate(state, NULL);
		return false;
	}
	tp_rank_enter(lock->mutex.rank, lock->mutex.name);
	lock->cancel_state = state;
	return true;
}

void tp_unlock(struct tp_lock *lock)
{
	int state = lock->cancel_state;

	tp_mutex_unlock(&lock->mutex);
	pthread_setcancelstate(state, NULL);
}
