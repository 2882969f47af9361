/* SPDX-License-Identifier: MIT */
/*
 * base/helper.h - the process's helper: a thread for what those that record need not do. There is one at most, and only
 * while there is work for it.
 */
#ifndef TP_HELPER_H
#define TP_HELPER_H

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define TP_NEVER UINT64_MAX

/* Descriptors that a work may wait for. */
#define TP_HELPER_PLACES 20u
#define TP_HELPER_NOW UINT_MAX

struct tp_work {
	/*
	 * Is called once at the beginning, whenever it was woken, and at the time that it has returned: by CLOCK_MONOTONIC, in
	 * nanoseconds; 0: at once; or TP_NEVER. Signals are blocked.
	 */
	uint64_t (*run)(void *data);
	/*
	 * Sets what is waited for, at most TP_HELPER_PLACES, and returns how many: run is called when one has events. Or returns
	 * TP_HELPER_NOW: it is to be called at once. Or NULL.
	 */
	unsigned int (*watch)(void *data, struct pollfd *places);
	/* In a forked child, while all locks are held. Or NULL. */
	void (*in_child)(void *data);
	void *data;
	bool records;     /* what it calls may be traced, and is recorded; else it has no part in any sink, as it may be the one to make it */
	bool in_children; /* a forked child has a helper for it, too; else it only has a part in one that is there */
	bool at_end;      /* the end of the process waits for it: see tp_helper_finish() */

	/* helper.c's. */
	struct tp_work *next;
	uint64_t due;
	bool wanted;
};

/* The helper does it from now on. 0, or an errno value: there is no thread. Not in a reader. */
int tp_helper_begin(struct tp_work *work);

/* Not any more. Returns when it is not being done, unless it is the work itself that calls. */
void tp_helper_end(struct tp_work *work);

/* There is something to do. May be called anywhere, and at any time. */
void tp_helper_wake(struct tp_work *work);

/* Whether there is a helper; and whether this thread is it. */
bool tp_helper_is_there(void);
bool tp_helper_is_self(void);

/*
 * At the end of the process: each work that is to be done then is done once more, and waited for, up to so many seconds.
 * Not under any lock.
 */
void tp_helper_finish(unsigned int seconds);
bool tp_helper_is_finishing(void);

/* At the end of the process: there is no helper any more, but for what it does for longer than a moment. */
void tp_helper_leave(void);

/* CLOCK_MONOTONIC, in nanoseconds. */
uint64_t tp_helper_now(void);

/* Waits for the thread's end, but no longer than 200 ms. False: it has not ended. */
bool tp_thread_ends_soon(pthread_t which);

#endif /* TP_HELPER_H */
