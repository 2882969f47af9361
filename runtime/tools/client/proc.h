/* SPDX-License-Identifier: MIT */
/* proc.h - what /proc says of a process. */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc {
	pid_t pid;       /* as this program sees it */
	pid_t inner_pid; /* in the process's own PID namespace */
	pid_t parent;
	char name[64];   /* as ps has it, without control characters */
	char state;      /* R, S, D; T: stopped by a signal; t: by a debugger; Z: ended */
	uid_t uid;       /* effective */
	gid_t gid;
	uint64_t start;  /* nanoseconds since the boot, a clock tick too early at most */
};

/* False: there is no such process. */
bool proc_read(struct proc *proc, pid_t pid);

/* By a signal, or by a debugger. */
bool proc_is_stopped(pid_t pid);

/* Whether that is its name in ps, or that of its file. */
bool proc_is_called(pid_t pid, const char *name);

/* Whether it has ended, or is about to. */
bool proc_is_gone(pid_t pid);

/*
 * The value of a variable in the environment with which the process was started, for free(); NULL: none, or it can't be
 * read.
 */
char *proc_environment(pid_t pid, const char *name);

/* Whether this program may look into that user's processes: root may look into everybody's. */
bool proc_may_be_reached(uid_t uid);

/* Whether the process is in the same namespace of this kind ("mnt", "net"), as far as can be seen. */
bool proc_has_our_namespace(pid_t pid, const char *kind);

/* Whether the process sees the same files as this program. */
bool proc_has_our_root(pid_t pid);

/* The file "/proc/PID/NAME", at most max bytes, with a NUL behind, for free(). NULL with errno set. */
char *proc_text(pid_t pid, const char *name, size_t max, size_t *len);

/* Calls fn for each process there is. */
void proc_each(void (*fn)(void *data, pid_t pid), void *data);

#endif /* PROC_H */
