/* SPDX-License-Identifier: MIT */
/* tracepoints.h - whether a process has tracepoints at all. */
#ifndef TRACEPOINTS_H
#define TRACEPOINTS_H

#include <sys/types.h>

enum tracepoints {
	TRACEPOINTS_YES,
	TRACEPOINTS_NONE,
	TRACEPOINTS_UNKNOWN, /* this user may not look at its files */
};

enum tracepoints tracepoints_of(pid_t pid);

#endif /* TRACEPOINTS_H */
