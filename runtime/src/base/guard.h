/* SPDX-License-Identifier: MIT */
/*
 * base/guard.h - a stretch of code that this thread's signal handlers and
 * cancellation do not interrupt, and that leaves errno as it was.
 */
#ifndef TP_GUARD_H
#define TP_GUARD_H

#include <signal.h>
#include <stdbool.h>

struct tp_guard {
	sigset_t signals;
	int cancel_state;
	int error;
	bool entered; /* false: the caller was in one already, which goes on */
	bool passing; /* it is inside tp_slow_ways */
};

/*
 * False where the thread is in such a stretch already: something that it calls
 * is traced itself, or the handler of a SIGSEGV or the like has interrupted it
 * after all. The caller counts its record as lost then.
 */
bool tp_guard_enter(struct tp_guard *guard);

/* The same for a record's slow way into a sink: false, too, where the way is closed by a fork that must not be waited for. */
bool tp_guard_enter_slow_way(struct tp_guard *guard);

void tp_guard_leave(const struct tp_guard *guard);

/*
 * A thread that is in such a stretch for good records nothing, as its records would be inside of another way into a sink.
 * Between these two calls, it does; signals stay blocked. The first returns what the second is to be given.
 */
bool tp_guard_pause(void);
void tp_guard_resume(bool was_guarded);

#endif /* TP_GUARD_H */
