/* SPDX-License-Identifier: MIT */
/*
 * base/guard.c - see guard.h.
 */
#include <errno.h>
#include <pthread.h>

#include "base/base.h"
#include "base/guard.h"
#include "base/fork_latch.h"

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
	guard->passing = tp_fork_latch_enter(&tp_slow_ways);
	if (!guard->passing)
		tp_guard_leave(guard);
	return guard->passing;
}

void tp_guard_leave(const struct tp_guard *guard)
{
	if (!guard->entered)
		return;
	if (guard->passing)
		tp_fork_latch_leave(&tp_slow_ways);
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
