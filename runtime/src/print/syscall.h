/* SPDX-License-Identifier: MIT */
/*
 * print/syscall.h - the names of system calls.
 */
#ifndef TP_SYSCALL_H
#define TP_SYSCALL_H

#include <stdint.h>

/* "read"; NULL: this processor's kernels have no such number, or it was not known when the library was built. */
const char *tp_syscall_name(uint64_t number);

#endif /* TP_SYSCALL_H */
