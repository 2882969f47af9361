/* SPDX-License-Identifier: MIT */
/*
 * base/passage.c - see passage.h.
 *
 * inside and closed are each other's: a thread that enters counts itself, and then looks whether the passage is closed;
 * a fork closes it, and then looks who is inside. So one of them sees the other.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/fork.h"
#include "base/passage.h"

#define PATIENCE_S 1

struct tp_passage tp_lines = {.number = TP_PASSAGE_LINES}, tp_slow_ways = {.number = TP_PASSAGE_SLOW_WAYS};

/* How often this thread is inside: one that crashes there may fork. And how many passages it has closed. */
static TP_THREAD_LOCAL uint32_t mine[TP_NR_PASSAGES];
static TP_THREAD_LOCAL uint32_t closed_by_me;

static void futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static bool is_closed(const struct tp_passage *passage)
{
	return __atomic_load_n(&passage->closed, __ATOMIC_SEQ_CST) != 0;
}

bool tp_passage_try(struct tp_passage *passage)
{
	mine[passage->number]++;
	__atomic_fetch_add(&passage->inside, 1, __ATOMIC_SEQ_CST);
	if (__builtin_expect(!is_closed(passage), 1))
		return true;
	tp_passage_leave(passage);
	return false;
}

void tp_passage_leave(struct tp_passage *passage)
{
	__atomic_fetch_sub(&passage->inside, 1, __ATOMIC_SEQ_CST);
	mine[passage->number]--;
	if (__builtin_expect(is_closed(passage), 0))
		futex(&passage->inside, FUTEX_WAKE, INT_MAX, NULL);
}

bool tp_passage_wait(struct tp_passage *passage)
{
	static TP_THREAD_LOCAL uint32_t given_up[TP_NR_PASSAGES]; /* what opened was then, plus 1 */
	const struct timespec patience = {.tv_sec = PATIENCE_S};
	const uint32_t opened = __atomic_load_n(&passage->opened, __ATOMIC_SEQ_CST);

	if (!is_closed(passage))
		return true;
	if (closed_by_me || given_up[passage->number] == opened + 1)
		return false;
	__atomic_fetch_add(&passage->waiting, 1, __ATOMIC_SEQ_CST);
	futex(&passage->opened, FUTEX_WAIT, opened, &patience);
	__atomic_fetch_sub(&passage->waiting, 1, __ATOMIC_SEQ_CST);
	/* Patience is for one fork; another one may follow at once. */
	if (__atomic_load_n(&passage->opened, __ATOMIC_SEQ_CST) != opened || !is_closed(passage))
		return true;
	given_up[passage->number] = opened + 1;
	return false;
}

bool tp_passage_enter(struct tp_passage *passage)
{
	while (!tp_passage_try(passage)) {
		if (!tp_passage_wait(passage))
			return false;
	}
	return true;
}

/* ---- Forks ---- */

void tp_passage_close(struct tp_passage *passage)
{
	closed_by_me++;
	__atomic_fetch_add(&passage->closed, 1, __ATOMIC_SEQ_CST);
}

bool tp_passage_is_busy(const struct tp_passage *passage)
{
	return __atomic_load_n(&passage->inside, __ATOMIC_SEQ_CST) != mine[passage->number];
}

void tp_passage_drain(struct tp_passage *passage)
{
	for (;;) {
		const uint32_t inside = __atomic_load_n(&passage->inside, __ATOMIC_SEQ_CST);
		if (inside == mine[passage->number])
			return;
		futex(&passage->inside, FUTEX_WAIT, inside, NULL);
	}
}

void tp_passage_open(struct tp_passage *passage, bool child)
{
	closed_by_me--;
	if (child) {
		passage->inside = mine[passage->number];
		passage->closed = 0;
		passage->waiting = 0;
	} else {
		__atomic_fetch_sub(&passage->closed, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_fetch_add(&passage->opened, 1, __ATOMIC_SEQ_CST);
	/* Hardly ever: then a fork makes no system call for it, which a sandbox may forbid. */
	if (__atomic_load_n(&passage->waiting, __ATOMIC_SEQ_CST))
		futex(&passage->opened, FUTEX_WAKE, INT_MAX, NULL);
}

static void before_fork(void)
{
	tp_passage_close(&tp_lines);
	tp_passage_drain(&tp_lines);
	tp_passage_close(&tp_slow_ways);
	tp_passage_drain(&tp_slow_ways);
}

static void after_fork(bool child)
{
	tp_passage_open(&tp_slow_ways, child);
	tp_passage_open(&tp_lines, child);
}

void tp_passage_start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_PASSAGE, .before = before_fork, .after = after_fork};

	tp_fork_register(&hook);
}
