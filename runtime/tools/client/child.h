/* SPDX-License-Identifier: MIT */
/* child.h - a program that tp starts to trace it. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	bool ended;
	int status; /* of waitpid */
};

/* A variable of its environment. */
struct setting {
	const char *name, *value;
};

/*
 * Starts the program with two settings. False, and a message; child->status then is what a shell would exit with.
 * signals_begin() was called.
 */
bool child_start(struct child *child, char *const *program, const struct setting settings[2]);

/* The same with this TP_OUTPUT and TP_ENABLE. */
bool child_start_traced(struct child *child, char *const *program, const char *output, const char *patterns);

/* Whether it has ended. */
bool child_has_ended(struct child *child);

/* A signal that has come to tp is passed on, unless the terminal has sent it to both. */
void child_pass_on(const struct child *child, int sig);

/* What tp exits with after it has ended: its status, or 128 and its signal's number. */
int child_exit_status(const struct child *child);

/* "was killed by signal 11 (Segmentation fault)" of a buffer that the next call uses again; NULL: it was not. */
const char *child_crash(const struct child *child);

#endif /* CHILD_H */
