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

/* Whether this thread is one: it is inside a probe. */
bool tp_reading(void);

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
