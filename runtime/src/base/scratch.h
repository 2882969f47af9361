/* SPDX-License-Identifier: MIT */
/*
 * base/scratch.h - tp_scratch_push() and tp_scratch_pop() where a call would cost too much.
 */
#ifndef TP_BASE_SCRATCH_H
#define TP_BASE_SCRATCH_H

#include <stddef.h>

#include <tp/scratch.h>

#include "base/base.h"

#define TP_SCRATCH_SIZE ((size_t)256 << 10)
#define TP_SCRATCH_ALIGN ((size_t)16)

/* The thread's stack; base is NULL as long as there is none. */
extern TP_THREAD_LOCAL char *tp_scratch_base;
extern TP_THREAD_LOCAL char *tp_scratch_top;

/* NULL: tp_scratch_push() may still have some. */
static inline void *tp_scratch_push_short(size_t size)
{
	if (__builtin_expect(!tp_scratch_base || size > TP_SCRATCH_SIZE, 0))
		return NULL;
	tp_barrier(); /* a handler may just have made the stack: then its top is there, too */
	char *memory = tp_scratch_top;
	size = (size + TP_SCRATCH_ALIGN - 1) & ~(TP_SCRATCH_ALIGN - 1);
	if (__builtin_expect(size > TP_SCRATCH_SIZE - (size_t)(memory - tp_scratch_base), 0))
		return NULL;
	tp_scratch_top = memory + size;
	tp_barrier(); /* the memory is ours before it is used: a handler would push the same */
	return memory;
}

static inline void tp_scratch_pop_short(void *memory)
{
	tp_barrier(); /* ... and until it is not used any more */
	tp_scratch_top = memory;
}

#endif /* TP_BASE_SCRATCH_H */
