/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the runtime's two big locks, and the stretches of code that a
 * signal handler or a cancellation must not interrupt.
 */
#include <errno.h>

#include <urcu/urcu-bp.h>

#include "internal.h"

struct tp_lock tp_events_lock = TP_LOCK_INIT;
struct tp_lock tp_registry_lock = TP_LOCK_INIT;

/* Set between tp_guard_enter and tp_guard_leave. */
static TP_THREAD_LOCAL bool guarded;

void tp_lock(struct tp_lock *lock)
{
	int state;

	/*
	 * liburcu's lock comes first in the order: should the holder hit a
	 * tracepoint (in malloc, say) as the first of its life, its
	 * registration would wait for a fork that waits for the holder.
	 */
	if (!tp_forked_alone())
		urcu_bp_register_thread();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock->mutex);
	lock->cancel_state = state;
}

bool tp_try_lock(struct tp_lock *lock)
{
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (pthread_mutex_trylock(&lock->mutex) != 0) {
		pthread_setcancelstate(state, NULL);
		return false;
	}
	lock->cancel_state = state;
	return true;
}

void tp_unlock(struct tp_lock *lock)
{
	int state = lock->cancel_state;

	pthread_mutex_unlock(&lock->mutex);
	pthread_setcancelstate(state, NULL);
}

/*
 * Those that an instruction causes by itself stay: the kernel kills a process
 * that blocks one, its crash handler or debugger notwithstanding. Should
 * their handler hit a tracepoint, guarded keeps it out of what must not be
 * entered twice.
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
	if (guarded)
		return false;
	guard->error = errno;
	block_signals(&guard->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
	guarded = true;
	tp_barrier();
	return true;
}

void tp_guard_leave(const struct tp_guard *guard)
{
	tp_barrier();
	guarded = false;
	pthread_setcancelstate(guard->cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
	errno = guard->error;
}
