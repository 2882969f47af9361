/* SPDX-License-Identifier: MIT */
/*
 * base/readers.h - waiting for readers, which are the threads that are inside
 * a probe right now, and what a fork does to such a wait.
 */
#ifndef TP_READERS_H
#define TP_READERS_H

#include <stdbool.h>

void tp_readers_start(void); /* once a process */

/*
 * Makes this thread known to liburcu, before it takes a lock: its first hit
 * would do that, inside the lock, and wait for a fork that waits for the lock.
 */
void tp_readers_register_thread(void);

/* Whether this thread is one; and whether as one that liburcu knows. base/hit.h has tp_reading(), which most want. */
bool tp_is_reader(void);
bool tp_is_known_reader(void);

/* What tp_slow_hit_begin() returns; or 0 or 1, which is for tp_first_hit_end(). */
enum {
	TP_HIT_KNOWN = 2, /* in liburcu's section */
	TP_HIT_NESTED,    /* in that of the hit outside it */
};

/* A hit that is in no other. In any thread, in signal handlers. */
int tp_first_hit(void);
void tp_first_hit_end(int hit);

/*
 * Returns when all readers of now are gone. Not while holding a lock, nor in a
 * reader, which would wait for itself.
 */
void tp_wait_for_readers(void);

/*
 * Whether this is a child that was forked inside a probe while another thread
 * waited for readers. liburcu's locks are those of a thread that is not there,
 * and tracing is off.
 */
bool tp_tracing_lost_in_fork(void);

#endif /* TP_READERS_H */
