/* SPDX-License-Identifier: MIT */
/*
 * listeners.h - the Unix sockets at which somebody listens, as the kernel lists them for a network namespace.
 */
#ifndef LISTENERS_H
#define LISTENERS_H

#include <sys/types.h>

/* Calls fn for the name of each that is of the kind of tp's. "@..." is in no directory. pid: in whose namespace; 0: ours. */
void listeners_each(pid_t pid, void (*fn)(void *data, const char *name), void *data);

#endif /* LISTENERS_H */
