/* SPDX-License-Identifier: MIT */
/*
 * base/readers.c - waiting for readers, by liburcu, and across forks.
 *
 * A fork holds liburcu's lock, so that the child finds it free. That lock
 * comes first of all: its holder may be waiting for a reader who waits for one
 * of ours.
 *
 * A thread's first hit takes that lock, too, to make the thread known to liburcu.
 * If the hit is in a signal handler that has interrupted malloc, it must not
 * wait for a fork (base/guard.h). So while a fork has the lock, the hits of
 * threads that liburcu does not know are counted instead, and whoever waits for
 * readers waits for these as well.
 *
 * Inside a probe, another thread may be waiting for this very reader. Then
 * nothing can be done about liburcu's lock, and the child, in which nobody
 * holds it, must not use liburcu: it is alone. (A thread that is a reader
 * before the fork is one after it, too.)
 */
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <urcu/urcu-bp.h>

#include <tp/read.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/thread.h"

static pthread_rwlock_t grace_period = PTHREAD_RWLOCK_INITIALIZER; /* held for reading by those who wait for readers */
static unsigned int waiting;                                       /* of them there are so many */
static bool alone;                                                 /* what tp_tracing_lost_in_fork() returns */

/* Of this thread's fork: it is in a probe; liburcu's lock is held. Other threads may fork while this one waits for it. */
static TP_THREAD_LOCAL bool inside, prepared;

bool tp_tracing_lost_in_fork(void)
{
	return __atomic_load_n(&alone, __ATOMIC_RELAXED);
}

/* ---- Hits of threads that liburcu does not know ---- */

static struct tp_fork_latch first_hits = {.number = TP_FORK_LATCH_FIRST_HITS};

/* How many are on their way, in two counts. Those that come are counted in one, so that the other will be 0 at some time. */
static struct {
	unsigned int hits[2];
	unsigned int now;
} unknown;

static TP_THREAD_LOCAL unsigned int my_unknown[2];

static bool am_unknown(void)
{
	return my_unknown[0] || my_unknown[1];
}

/* A thread that exits in a probe leaves its hits there. */
static void leave(void)
{
	for (int i = 0; i < 2; i++) {
		__atomic_fetch_sub(&unknown.hits[i], my_unknown[i], __ATOMIC_SEQ_CST);
		my_unknown[i] = 0;
	}
}

int tp_first_hit(void)
{
	bool known = tp_thread_is_known();

	if (!known && !tp_tracing_lost_in_fork() && tp_fork_latch_try(&first_hits)) {
		urcu_bp_register_thread();
		tp_fork_latch_leave(&first_hits);
		known = true;
	}
	if (known) {
		urcu_bp_read_lock();
		return TP_HIT_KNOWN;
	}
	tp_thread_arm(leave);
	const int now = (int)__atomic_load_n(&unknown.now, __ATOMIC_RELAXED);
	my_unknown[now]++;
	__atomic_fetch_add(&unknown.hits[now], 1, __ATOMIC_SEQ_CST);
	cmm_smp_mb(); /* the array is loaded behind it; pairs with wait_for_unknown()'s */
	return now;
}

void tp_first_hit_end(int hit)
{
	if (hit == TP_HIT_KNOWN) {
		tp_read_unlock();
		return;
	}
	__atomic_fetch_sub(&unknown.hits[hit], 1, __ATOMIC_SEQ_CST);
	my_unknown[hit]--;
}

/* Each count was 0 since this was called. */
static void wait_for_unknown(void)
{
	cmm_smp_mb();
	for (unsigned int i = 0; i < 2; i++) {
		while (__atomic_load_n(&unknown.hits[i], __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&unknown.now, !i, __ATOMIC_RELAXED);
			poll(NULL, 0, 1); /* as liburcu does it */
		}
	}
}

void tp_readers_register_thread(void)
{
	if (!tp_tracing_lost_in_fork() && !am_unknown())
		urcu_bp_register_thread();
}

/* Asked of one that it does not know, liburcu would make it known, under its lock. */
static bool am_known_reader(void)
{
	return tp_thread_is_known() && urcu_bp_read_ongoing();
}

bool tp_is_reader(void)
{
	return am_unknown() || am_known_reader();
}

bool tp_is_known_reader(void)
{
	return !am_unknown() && am_known_reader();
}

/*
 * A filter that has come since the start may refuse the call by which liburcu reaches the other threads, and liburcu would
 * abort. Readers that begin from here on use a barrier of their own. Those that have begun without one are visible as soon as
 * their processors have written what they hold back, for which so long is plenty: no call is left that would be certain.
 */
static void do_without_membarrier(void)
{
#ifndef urcu_bp_has_sys_membarrier /* else liburcu is built so that it can't */
	const int64_t ns = 10000000;
	struct timespec begun, now;

	if (!__atomic_load_n(&urcu_bp_has_sys_membarrier, __ATOMIC_RELAXED) ||
	    syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0) >= 0)
		return;
	__atomic_store_n(&urcu_bp_has_sys_membarrier, 0, __ATOMIC_SEQ_CST);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do { /* a filter that refuses the one call may kill for another */
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec < ns);
#endif
}

void tp_wait_for_readers(void)
{
	if (tp_tracing_lost_in_fork())
		return;
	tp_rank_check(TP_RANK_READERS, "the wait for readers");
	__atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
	pthread_rwlock_rdlock(&grace_period);
	do_without_membarrier();
	urcu_bp_synchronize_rcu();
	wait_for_unknown();
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

/* What is in a first hit may be waiting for it already. */
static void hold_liburcu(void)
{
	urcu_bp_before_fork();
	tp_fork_latch_close(&first_hits);
	if (!tp_fork_latch_is_busy(&first_hits))
		return;
	urcu_bp_after_fork_parent();
	tp_fork_latch_drain(&first_hits);
	urcu_bp_before_fork();
}

static void before_fork(void)
{
	inside = prepared = false;
	if (tp_tracing_lost_in_fork())
		return;
	tp_readers_register_thread(); /* urcu_bp_before_fork() would lock it out, and tp_lock() wants it */
	inside = tp_is_reader();
	prepared = !inside || exclude_waiters();
	if (prepared)
		hold_liburcu();
}

static void in_child(void)
{
	if (prepared)
		return;
	if (!tp_tracing_lost_in_fork())
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
	if (prepared)
		tp_fork_latch_open(&first_hits, child);
	if (child) { /* its holders are not in the child */
		grace_period = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
		waiting = 0;
		for (int i = 0; i < 2; i++)
			unknown.hits[i] = my_unknown[i];
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
	tp_message_never_wait_in(tp_is_reader);
}
