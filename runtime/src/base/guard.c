/* SPDX-License-Identifier: MIT */
/*
 * base/guard.c - see guard.h.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/futex.h"
#include "base/guard.h"

/* ---- Latches ---- */

/*
 * inside and closed are each other's: a thread that enters counts itself, and then looks whether the latch is closed;
 * a fork closes it, and then looks who is inside. So one of them sees the other.
 */

#define PATIENCE_S 1

struct tp_fork_latch tp_lines = {.number = TP_FORK_LATCH_LINES};
static struct tp_fork_latch slow_ways = {.number = TP_FORK_LATCH_SLOW_WAYS};

/* How often this thread is inside: one that crashes there may fork. And how many latches it has closed. */
static TP_THREAD_LOCAL uint32_t mine[TP_NR_FORK_LATCHES];
static TP_THREAD_LOCAL uint32_t closed_by_me;

static bool is_closed(const struct tp_fork_latch *latch)
{
	return __atomic_load_n(&latch->closed, __ATOMIC_SEQ_CST) != 0;
}

bool tp_fork_latch_try(struct tp_fork_latch *latch)
{
	mine[latch->number]++;
	__atomic_fetch_add(&latch->inside, 1, __ATOMIC_SEQ_CST);
	if (__builtin_expect(!is_closed(latch), 1))
		return true;
	tp_fork_latch_leave(latch);
	return false;
}

void tp_fork_latch_leave(struct tp_fork_latch *latch)
{
	__atomic_fetch_sub(&latch->inside, 1, __ATOMIC_SEQ_CST);
	mine[latch->number]--;
	if (__builtin_expect(is_closed(latch), 0))
		tp_futex(&latch->inside, FUTEX_WAKE, INT_MAX, NULL);
}

bool tp_fork_latch_wait(struct tp_fork_latch *latch)
{
	static TP_THREAD_LOCAL uint32_t given_up[TP_NR_FORK_LATCHES]; /* what opened was then, plus 1 */
	const struct timespec patience = {.tv_sec = PATIENCE_S};
	const uint32_t opened = __atomic_load_n(&latch->opened, __ATOMIC_SEQ_CST);

	if (!is_closed(latch))
		return true;
	if (closed_by_me || given_up[latch->number] == opened + 1)
		return false;
	__atomic_fetch_add(&latch->waiting, 1, __ATOMIC_SEQ_CST);
	tp_futex(&latch->opened, FUTEX_WAIT, opened, &patience);
	__atomic_fetch_sub(&latch->waiting, 1, __ATOMIC_SEQ_CST);
	/* Patience is for one fork; another one may follow at once. */
	if (__atomic_load_n(&latch->opened, __ATOMIC_SEQ_CST) != opened || !is_closed(latch))
		return true;
	given_up[latch->number] = opened + 1;
	return false;
}

/* Waits where a fork has closed it. False as tp_fork_latch_wait(). */
static bool enter(struct tp_fork_latch *latch)
{
	while (!tp_fork_latch_try(latch)) {
		if (!tp_fork_latch_wait(latch))
			return false;
	}
	return true;
}

/* ---- Forks ---- */

void tp_fork_latch_close(struct tp_fork_latch *latch)
{
	closed_by_me++;
	__atomic_fetch_add(&latch->closed, 1, __ATOMIC_SEQ_CST);
}

bool tp_fork_latch_is_busy(const struct tp_fork_latch *latch)
{
	return __atomic_load_n(&latch->inside, __ATOMIC_SEQ_CST) != mine[latch->number];
}

void tp_fork_latch_drain(struct tp_fork_latch *latch)
{
	for (;;) {
		const uint32_t inside = __atomic_load_n(&latch->inside, __ATOMIC_SEQ_CST);
		if (inside == mine[latch->number])
			return;
		tp_futex(&latch->inside, FUTEX_WAIT, inside, NULL);
	}
}

void tp_fork_latch_open(struct tp_fork_latch *latch, bool child)
{
	closed_by_me--;
	if (child) {
		latch->inside = mine[latch->number];
		latch->closed = 0;
		latch->waiting = 0;
	} else {
		__atomic_fetch_sub(&latch->closed, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_fetch_add(&latch->opened, 1, __ATOMIC_SEQ_CST);
	/* Hardly ever: then a fork makes no system call for it, which a sandbox may forbid. */
	if (__atomic_load_n(&latch->waiting, __ATOMIC_SEQ_CST))
		tp_futex(&latch->opened, FUTEX_WAKE, INT_MAX, NULL);
}

static void before_fork(void)
{
	tp_fork_latch_close(&tp_lines);
	tp_fork_latch_drain(&tp_lines);
	tp_fork_latch_close(&slow_ways);
	tp_fork_latch_drain(&slow_ways);
}

static void after_fork(bool child)
{
	tp_fork_latch_open(&slow_ways, child);
	tp_fork_latch_open(&tp_lines, child);
}

void tp_fork_latch_start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_FORK_LATCH, .before = before_fork, .after = after_fork};

	tp_fork_register(&hook);
}

/* ---- Guards ---- */

/* Set between tp_guard_enter and tp_guard_leave. */
static TP_THREAD_LOCAL bool guarded;

/*
 * Signals that an instruction causes by itself stay: the kernel kills a
 * process that blocks one, its crash handler or debugger notwithstanding.
 * Should their handler hit a tracepoint, guarded keeps it out of what must not
 * be entered twice.
 */
static void block_signals(sigset_t *old)
{
	static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(synchronous) / sizeof(synchronous[0]); i++)
		sigdelset(&set, synchronous[i]);
	pthread_sigmask(SIG_BLOCK, &set, old);
}

bool tp_guard_enter(struct tp_guard *guard)
{
	guard->entered = !guarded;
	guard->passing = false;
	if (guarded)
		return false;
	guard->error = errno;
	block_signals(&guard->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
	guarded = true;
	tp_barrier();
	return true;
}

bool tp_guard_enter_slow_way(struct tp_guard *guard)
{
	if (!tp_guard_enter(guard))
		return false;
	guard->passing = enter(&slow_ways);
	if (!guard->passing)
		tp_guard_leave(guard);
	return guard->passing;
}

void tp_guard_leave(const struct tp_guard *guard)
{
	if (!guard->entered)
		return;
	if (guard->passing)
		tp_fork_latch_leave(&slow_ways);
	tp_barrier();
	guarded = false;
	pthread_setcancelstate(guard->cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
	errno = guard->error;
}

bool tp_guard_pause(void)
{
	const bool was_guarded = guarded;

	tp_barrier();
	guarded = false;
	return was_guarded;
}

void tp_guard_resume(bool was_guarded)
{
	guarded = was_guarded;
	tp_barrier();
}

