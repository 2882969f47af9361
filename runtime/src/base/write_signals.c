/* SPDX-License-Identifier: MIT */
/*
 * base/write_signals.c - see write_signals.h.
 */
#include <errno.h>
#include <time.h>

#include "base/sandbox.h"
#include "base/write_signals.h"

static const int held[] = {SIGPIPE, SIGXFSZ, SIGTTOU};
#define NR_HELD (sizeof(held) / sizeof(held[0]))

void tp_write_signals_hold(struct tp_write_signals *signals)
{
	bool blocked = false;
	sigset_t set;

	if (tp_sandboxed)
		return;
	sigemptyset(&set);
	for (size_t i = 0; i < NR_HELD; i++)
		sigaddset(&set, held[i]);
	sigemptyset(&signals->old); /* a filter may forbid to ask, and then to set it again */
	pthread_sigmask(SIG_BLOCK, &set, &signals->old);
	for (size_t i = 0; i < NR_HELD; i++)
		blocked |= sigismember(&signals->old, held[i]) == 1;
	sigemptyset(&signals->pending); /* what was not blocked is not pending either */
	if (blocked)
		sigpending(&signals->pending);
}

/* Those that were not pending before. False where a filter forbids it. */
static bool take_away(const struct tp_write_signals *signals)
{
	const struct timespec no_time = {.tv_sec = 0};
	sigset_t ours;

	sigemptyset(&ours);
	for (size_t i = 0; i < NR_HELD; i++) {
		if (!sigismember(&signals->pending, held[i]))
			sigaddset(&ours, held[i]);
	}
	while (sigtimedwait(&ours, NULL, &no_time) > 0 || errno == EINTR)
		;
	return errno == EAGAIN;
}

void tp_write_signals_release(const struct tp_write_signals *signals, bool failed)
{
	int error = errno;

	if (tp_sandboxed)
		return;
	/* Where they can't be taken away, they stay held back: one of them would end the program. */
	if (!failed || take_away(signals))
		pthread_sigmask(SIG_SETMASK, &signals->old, NULL);
	errno = error;
}
