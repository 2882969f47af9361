/* SPDX-License-Identifier: MIT */
/*
 * base/fork_latch.c - see fork_latch.h.
 *
 * inside and closed are each other's: a thread that enters counts itself, and then looks whether the latch is closed;
 * a fork closes it, and then looks who is inside. So one of them sees the other.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/fork_latch.h"

#define PATIENCE_S 1

struct tp_fork_latch tp_lines = {.number = TP_FORK_LATCH_LINES}, tp_slow_ways = {.number = TP_FORK_LATCH_SLOW_WAYS};

/* How often this thread is inside: one that crashes there may fork. And how many latches it has closed. */
static TP_THREAD_LOCAL uint32_t mine[TP_NR_PASSAGES];
static TP_THREAD_LOCAL uint32_t closed_by_me;

static void futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

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
		futex(&latch->inside, FUTEX_WAKE, INT_MAX, NULL);
}

bool tp_fork_latch_wait(struct tp_fork_latch *latch)
{
	static TP_THREAD_LOCAL uint32_t given_up[TP_NR_PASSAGES]; /* what opened was then, plus 1 */
	const struct timespec patience = {.tv_sec = PATIENCE_S};
	const uint32_t opened = __atomic_load_n(&latch->opened, __ATOMIC_SEQ_CST);

	if (!is_closed(latch))
		return true;
	if (closed_by_me || given_up[latch->number] == opened + 1)
		return false;
	__atomic_fetch_add(&latch->waiting, 1, __ATOMIC_SEQ_CST);
	futex(&latch->opened, FUTEX_WAIT, opened, &patience);
	__atomic_fetch_sub(&latch->waiting, 1, __ATOMIC_SEQ_CST);
	/* Patience is for one fork; another one may follow at once. */
	if (__atomic_load_n(&latch->opened, __ATOMIC_SEQ_CST) != opened || !is_closed(latch))
		return true;
	given_up[latch->number] = opened + 1;
	return false;
}

bool tp_fork_latch_enter(struct tp_fork_latch *latch)
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
		futex(&latch->inside, FUTEX_WAIT, inside, NULL);
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
		futex(&latch->opened, FUTEX_WAKE, INT_MAX, NULL);
}

static void before_fork(void)
{
	tp_fork_latch_close(&tp_lines);
	tp_fork_latch_drain(&tp_lines);
	tp_fork_latch_close(&tp_slow_ways);
	tp_fork_latch_drain(&tp_slow_ways);
}

static void after_fork(bool child)
{
	tp_fork_latch_open(&tp_slow_ways, child);
	tp_fork_latch_open(&tp_lines, child);
}

void tp_fork_latch_start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_FORK_LATCH, .before = before_fork, .after = after_fork};

	tp_fork_register(&hook);
}
