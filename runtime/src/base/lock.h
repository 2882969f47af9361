/* SPDX-License-Identifier: MIT */
/*
 * base/lock.h - locks for those that are no readers. base/mutex.h has the order
 * in which they nest.
 */
#ifndef TP_LOCK_H
#define TP_LOCK_H

#include <stdbool.h>

#include "base/mutex.h"

/*
 * A lock whose holder can't be cancelled: what the holder calls (open, write
 * ...) are cancellation points, and a cancelled holder would keep it for ever.
 */
struct tp_lock {
	struct tp_mutex mutex;
	int cancel_state; /* the holder's, from before */
};

#define TP_LOCK_INIT(lock_rank, lock_name) {.mutex = TP_MUTEX_INIT(lock_rank, lock_name)}

void tp_lock(struct tp_lock *lock);
bool tp_try_lock(struct tp_lock *lock); /* false where it is taken, be it by this thread; need not keep the order */
void tp_unlock(struct tp_lock *lock);

#endif /* TP_LOCK_H */
