/* SPDX-License-Identifier: MIT */
/*
 * base/guard.h - a stretch of code that this thread's signal handlers and
 * cancellation do not interrupt, and that leaves errno as it was.
 */
#ifndef TP_GUARD_H
#define TP_GUARD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct tp_guard {
	sigset_t signals;
	int cancel_state;
	int error;
	bool entered; /* false: the caller was in one already, which goes on */
	bool passing; /* it is inside the latch of slow ways */
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

/*
 * A stretch of code that readers pass through, and that a fork closes.
 *
 * glibc takes malloc's locks when all handlers of pthread_atfork() have run. A signal handler may have interrupted
 * malloc. If it hits a tracepoint, it must not wait for a lock that the fork holds, as the fork may be waiting for that
 * malloc. So readers take such locks inside a latch only. A fork closes the latch, and takes the locks when nobody
 * is inside any more.
 */

enum tp_fork_latch_number {
	TP_FORK_LATCH_FIRST_HITS, /* of threads: they take liburcu's lock */
	TP_FORK_LATCH_LINES,      /* of text sinks: they take the sink's lock. Whoever takes a line may be slow */
	TP_FORK_LATCH_SLOW_WAYS,  /* of records into other sinks: they take locks of a rank above TP_RANK_FORK_LATCH */
	TP_NR_FORK_LATCHES,
};

struct tp_fork_latch {
	enum tp_fork_latch_number number;
	uint32_t inside; /* threads, and their handlers */
	uint32_t closed; /* by so many forks */
	uint32_t opened; /* so often, modulo 2^32 */
	uint32_t waiting; /* threads, for that */
};

extern struct tp_fork_latch tp_lines;

/*
 * False where a fork has closed it. Safe in signal handlers, as are the next two; but a handler must not leave by
 * longjmp() what it has interrupted, nor must the thread be cancelled: so this is for code that blocks them, or is short.
 */
bool tp_fork_latch_try(struct tp_fork_latch *latch);

/*
 * Waits until the fork is through. False where that takes more than a second, or where this thread is the one that
 * forks: then the fork may be waiting for what the caller has interrupted.
 */
bool tp_fork_latch_wait(struct tp_fork_latch *latch);

/* In the thread that has entered. */
void tp_fork_latch_leave(struct tp_fork_latch *latch);

/* Nobody enters from here on. With all signals blocked. */
void tp_fork_latch_close(struct tp_fork_latch *latch);

/* Whether somebody else is inside; and waits until nobody is. In the thread that has closed it. */
bool tp_fork_latch_is_busy(const struct tp_fork_latch *latch);
void tp_fork_latch_drain(struct tp_fork_latch *latch);

/* Ends what close began. In a forked child, nobody but this thread is there any more. */
void tp_fork_latch_open(struct tp_fork_latch *latch, bool child);

void tp_fork_latch_start(void); /* once a process */

#endif /* TP_GUARD_H */
