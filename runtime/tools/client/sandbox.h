/* SPDX-License-Identifier: MIT */
/* sandbox.h - processes whose filter of system calls might end them if they answered. */
#ifndef CLIENT_SANDBOX_H
#define CLIENT_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Whether the thread that would answer has a filter (seccomp), of which nobody has said that it allows
 * that: a process that was started with TP_CONTROL is asked.
 */
bool sandbox_may_end(pid_t pid);

#endif /* CLIENT_SANDBOX_H */
