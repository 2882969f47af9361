/* SPDX-License-Identifier: MIT */
/*
 * base/readers.c - waiting for readers, by liburcu, and across forks.
 *
 * A fork holds liburcu's lock, so that the child finds it free. That lock
 * comes first of all: its holder may be waiting for a reader who waits for one
 * of ours.
 *
 * Inside a probe, another thread may be waiting for this very reader. Then
 * nothing can be done about liburcu's lock, and the child, in which nobody
 * holds it, must not use liburcu: it is alone. (A thread that is a reader
 * before the fork is one after it, too.)
 */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <urcu/static/urcu-bp.h> /* for urcu_bp_gp */
#include <urcu/urcu-bp.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/message.h"
#include "base/readers.h"

static pthread_rwlock_t grace_period = PTHREAD_RWLOCK_INITIALIZER; /* held for reading by those who wait for readers */
static unsigned int waiting;                                       /* of them there are so many */
static bool alone;                                                 /* what tp_forked_alone() returns */

/* Of this thread's fork: it is in a probe; liburcu's lock is held. Other threads may fork while this one waits for it. */
static TP_THREAD_LOCAL bool inside, prepared;

bool tp_forked_alone(void)
{
	return __atomic_load_n(&alone, __ATOMIC_RELAXED);
}

void tp_readers_register_thread(void)
{
	if (!tp_forked_alone())
		urcu_bp_register_thread();
}

bool tp_reading(void)
{
	return urcu_bp_read_ongoing();
}

void tp_wait_for_readers(void)
{
	if (tp_forked_alone())
		return;
	tp_rank_check(TP_RANK_READERS, "the wait for readers");
	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
	pthread_rwlock_rdlock(&grace_period);
	urcu_bp_synchronize_rcu();
	pthread_rwlock_unlock(&grace_period);
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
	if (__tsan_acquire)
		__tsan_acquire(&urcu_bp_gp); /* what tp_read_unlock() released */
}

/* ---- Forks ---- */

/* In a probe: keeps others from waiting for readers. False where one waits already. */
static bool exclude_waiters(void)
{
	while (pthread_rwlock_trywrlock(&grace_period) != 0) {
		if (__atomic_load_n(&waiting, __ATOMIC_RELAXED))
			return false;
		sched_yield(); /* another fork, which does not wait for us */
	}
	return true;
}

static void before_fork(void)
{
	inside = prepared = false;
	if (tp_forked_alone())
		return;
	urcu_bp_register_thread(); /* urcu_bp_before_fork() would lock it out, and tp_lock() wants it */
	inside = tp_reading();
	prepared = !inside || exclude_waiters();
	if (prepared)
		urcu_bp_before_fork();
}

static void in_child(void)
{
	if (prepared)
		return;
	if (!tp_forked_alone())
		tp_complain("process %d was forked inside a probe while another thread waited for that: it goes on "
			    "without tracing", (int)getpid());
	__atomic_store_n(&alone, true, __ATOMIC_RELAXED);
}

static void after_fork(bool child)
{
	if (prepared && child)
		urcu_bp_after_fork_child();
	else if (prepared)
		urcu_bp_after_fork_parent();
	if (child) { /* its holders are not in the child */
		grace_period = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
		waiting = 0;
	} else if (prepared && inside) {
		pthread_rwlock_unlock(&grace_period);
	}
}

void tp_readers_start(void)
{
	static struct tp_fork_hook hook = {
		.rank = TP_RANK_READERS, .before = before_fork, .in_child = in_child, .after = after_fork,
	};

	tp_fork_register(&hook);
}
