/* SPDX-License-Identifier: MIT */
/*
 * tp/scratch.h - memory for a record on its way, for sinks that don't hand out
 * a buffer of their own.
 */
#ifndef TP_SCRATCH_H
#define TP_SCRATCH_H

#include <stddef.h>

#include <tp/tracepoint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * size bytes of a stack that the calling thread has, 16-byte aligned. They are
 * given back in reverse order. NULL where size does not fit any more: a
 * thread's stack holds 256 KiB. Safe in signal handlers.
 */
TP_PUBLIC void *tp_scratch_push(size_t size);
TP_PUBLIC void tp_scratch_pop(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* TP_SCRATCH_H */
