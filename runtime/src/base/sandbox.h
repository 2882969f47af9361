/* SPDX-License-Identifier: MIT */
/*
 * base/sandbox.h - a program that will forbid itself system calls, by a seccomp filter that ends it for
 * others. docs/sandbox.md has those that the runtime makes.
 */
#ifndef TP_SANDBOX_H
#define TP_SANDBOX_H

#include <stdbool.h>

/*
 * TP_SANDBOX=1: what the runtime does for safety's and for comfort's sake is left out, where that takes system
 * calls after a sink's opening. The program closes no descriptors of the runtime's, and its files stay where they are.
 */
extern bool tp_sandboxed;

void tp_sandbox_start(void); /* once a process */

#endif /* TP_SANDBOX_H */
