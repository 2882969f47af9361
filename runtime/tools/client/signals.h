/* SPDX-License-Identifier: MIT */
/* signals.h - the signals that end a command which follows a process, or that want something of it. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/*
 * From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP and SIGCHLD are read from a descriptor, and SIGPIPE is
 * ignored. False, and a message.
 */
bool signals_begin(void);

/* They do again what they do to other programs; those that wait are forgotten. */
void signals_end(void);

/* Readable when one has come; -1 where signals_begin() was not called. */
int signals_fd(void);

/* The next one that has come; 0: none. Does not wait. */
int signals_next(void);

/*
 * How long to wait at most for what would otherwise be waited for so long, in milliseconds: less, and in the end 0, once a
 * signal has come by which a user ends the command. It stays the next one.
 */
int signals_patience(int ms);

/* Whether it is such a one. */
bool signal_ends(int sig);

/* Whether signals_next() has returned one that a user types: ^C or ^\. */
bool signals_were_typed(void);

/* Stops this program until somebody lets it go on, as SIGTSTP does. */
void signals_stop(void);

/* In a child, in front of exec: the signals are as this program has found them. */
void signals_restore(void);

#endif /* SIGNALS_H */
