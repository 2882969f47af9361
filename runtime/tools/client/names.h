/* SPDX-License-Identifier: MIT */
/* names.h - the name of a process's socket, PID.START. */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * pid is in the process's own PID namespace, start in nanoseconds since the boot; either may be NULL. False: it is no
 * such name.
 */
bool name_is_process(const char *name, pid_t *pid, uint64_t *start);

#endif /* NAMES_H */
