/* SPDX-License-Identifier: MIT */
#ifndef TP_SCRATCH_H
#define TP_SCRATCH_H
#include <stddef.h>
#include <tp/tracepoint.h>
#ifdef __cplusplus
extern "C" {
#endif
TP_PUBLIC void *tp_scratch_push(size_t size);
TP_PUBLIC void tp_scratch_pop(void *memory);
#ifdef __cplusplus
}
#endif
#endif
