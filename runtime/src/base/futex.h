/* SPDX-License-Identifier: MIT */
/*
 * base/futex.h - the system call futex. Safe in signal handlers.
 */
#ifndef TP_FUTEX_H
#define TP_FUTEX_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* 32-bit processors have two: here struct timespec has seconds of 64 bits, if the C library knows such ones. */
#ifdef SYS_futex_time64
#define TP_SYS_FUTEX (sizeof(time_t) > sizeof(long) ? SYS_futex_time64 : SYS_futex)
#else
#define TP_SYS_FUTEX SYS_futex
#endif

/* FUTEX_WAIT or FUTEX_WAKE, of this process's threads. For a wait, timeout says how long at most; NULL: for ever. */
static inline void tp_futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	syscall(TP_SYS_FUTEX, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

#endif /* TP_FUTEX_H */
