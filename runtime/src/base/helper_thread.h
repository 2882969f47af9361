/* SPDX-License-Identifier: MIT */
/*
 * base/helper_thread.h - a thread of a sink's own.
 */
#ifndef TP_HELPER_THREAD_H
#define TP_HELPER_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tp_helper_thread {
	pthread_t id;
	const char *name;             /* no more than 15 characters */
	void (*work)(void *data);     /* called again and again, whenever there may be something to do */
	void *data;
	uint64_t interval_ns; /* work is called that often, too; 0: only when the thread is woken */
	bool stopping;
	uint32_t wakes;
};

/* 0, or an errno value: there is no thread. */
int tp_helper_thread_start(struct tp_helper_thread *helper);

/* There is something to do. May be called anywhere, and at any time. */
void tp_helper_thread_wake(struct tp_helper_thread *helper);

/* Ends the thread when its work at hand is done, and waits for that. */
void tp_helper_thread_stop(struct tp_helper_thread *helper);

/* Of a thread of the runtime's: its stack is small, but has room for the program's thread-local variables. */
void tp_helper_thread_attributes(pthread_attr_t *attributes);

/* Waits for the thread's end, but no longer than 200 ms. False: it has not ended. */
bool tp_thread_ends_soon(pthread_t thread);

#endif /* TP_HELPER_THREAD_H */
