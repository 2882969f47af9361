/* SPDX-License-Identifier: MIT */
/*
 * base/write_signals.h - a write that fails must not end the program: the
 * signals that it raises are held back, and taken away again.
 */
#ifndef TP_WRITE_SIGNALS_H
#define TP_WRITE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct tp_write_signals {
	sigset_t old;
	sigset_t pending;
};

/* Holds back SIGPIPE, and SIGXFSZ of a file that is as long as the limit allows. In a sandbox neither does anything. */
void tp_write_signals_hold(struct tp_write_signals *signals);

/* Lets them through again. Where the write has failed, those that it raised are gone, or stay held back. Keeps errno. */
void tp_write_signals_release(const struct tp_write_signals *signals, bool failed);

#endif /* TP_WRITE_SIGNALS_H */
