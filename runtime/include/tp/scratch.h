/* SPDX-License-Identifier: MIT */
/*
 * tp/scratch.h - memory for a record between reserve and commit, for sinks
 * without a buffer of their own.
 */
#ifndef TP_SCRATCH_H
#define TP_SCRATCH_H

#include <stddef.h>

#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns size bytes, 16-byte aligned, from a stack that each thread has for
 * this. Memory must be popped in reverse order. NULL if size does not fit: a
 * thread's stack holds 256 KiB. Both are safe in signal handlers.
 */
TP_PUBLIC void *tp_scratch_push(size_t size);
TP_PUBLIC void tp_scratch_pop(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* TP_SCRATCH_H */
