/* SPDX-License-Identifier: MIT */
/*
 * base/mutex.h - locks that readers take, too, and the order in which all locks nest.
 */
#ifndef TP_MUTEX_H
#define TP_MUTEX_H

#include <pthread.h>

/*
 * The order of locks, which base/locks.h names.
 *
 * A thread that holds a lock takes only locks of a higher rank. A fork takes
 * all of them in this order, and gives them back in the opposite one.
 *
 * Nobody waits for readers while holding a lock of a rank above theirs: a
 * reader, which the wait is for, may itself be waiting for that very lock.
 */

/*
 * The loader's lock comes before all of these. It is held where constructors
 * and destructors run, and so around the coming and going of modules. Nobody
 * takes it while holding one of these, unless he holds it already.
 */
enum tp_rank {
	TP_RANK_NONE,     /* no lock is held */
	TP_RANK_CONTROL,  /* control/: whoever begins or ends to listen, or serves; no reader takes it, and no fork */
	TP_RANK_READERS,  /* liburcu's own: taken by waits for readers, and by a thread's first hit */
	TP_RANK_MODULES,
	TP_RANK_TRIGGERS,
	TP_RANK_EVENTS,
	TP_RANK_LEAF,     /* whoever holds one takes none of the others of this rank, either */
	TP_RANK_REGISTRY,
	TP_RANK_FORK_LATCH, /* base/guard.c: no lock, but from here on a fork holds what readers take */
	TP_RANK_LTTNG,    /* LTTng's; its own threads take it, too */
	TP_RANK_SINK,     /* a sink's own: the text sink's comes after its FILE's, which a fork only tries to take */
	TP_RANK_CTF,
	TP_RANK_LAST,     /* as TP_RANK_LEAF, of readers; its holder calls nothing that may be traced */
};

/*
 * With -DTP_CHECK_RANKS=1, which the tests set, a lock that is taken against
 * the order ends the process by abort(), after a message that names both
 * locks. Locks of rank TP_RANK_SINK may be held several at once, as a fork
 * holds them.
 */
#ifndef TP_CHECK_RANKS
#define TP_CHECK_RANKS 0
#endif

#if TP_CHECK_RANKS
/* The thread is about to wait for a lock of this rank. */
void tp_rank_check(enum tp_rank rank, const char *name);
/* It has taken the lock; it gives the lock back. */
void tp_rank_enter(enum tp_rank rank, const char *name);
void tp_rank_leave(enum tp_rank rank);
#else
static inline void tp_rank_check(enum tp_rank rank, const char *name)
{
	(void)rank;
	(void)name;
}

static inline void tp_rank_enter(enum tp_rank rank, const char *name)
{
	(void)rank;
	(void)name;
}

static inline void tp_rank_leave(enum tp_rank rank)
{
	(void)rank;
}
#endif

/* ---- The lock ---- */

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
