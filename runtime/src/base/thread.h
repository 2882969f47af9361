/* SPDX-License-Identifier: MIT */
/*
 * base/thread.h - what is kept for each thread.
 */
#ifndef TP_THREAD_H
#define TP_THREAD_H

#include <stdbool.h>
#include <stdint.h>

void tp_thread_start(void); /* once a process */

/* The thread's id, as gettid() has it; cached. */
int32_t tp_thread_id(void);

/* Does what is done when this thread exits, although it goes on. */
void tp_thread_leave(void);

/* Whether that is because it exits. */
bool tp_thread_is_exiting(void);

/* In a forked child: the thread has another id. */
void tp_thread_forget_id(void);

/*
 * Makes leave() run when this thread exits, and when any other thread does that
 * has called this at all. False in the thread's very last destructors, where
 * leave() would not run again. Safe in signal handlers.
 */
bool tp_thread_arm(void (*leave)(void));

#endif /* TP_THREAD_H */
