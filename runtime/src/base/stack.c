/* SPDX-License-Identifier: MIT */
/*
 * base/stack.c - see stack.h.
 *
 * By the compiler's own unwinder, which every C library has, and which is there from the start: backtrace() would load it
 * when it is first called. It follows the tables of .eh_frame, as frame pointers are rarely there.
 */
#include <unwind.h>

#include "base/base.h"
#include "base/stack.h"

struct walk {
	uintptr_t *to;
	unsigned int nr, max;
	unsigned int skip;
	uintptr_t address, frame; /* of the step before */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
	struct walk *walk = data;
	const uintptr_t address = _Unwind_GetIP(context);
	const uintptr_t frame = _Unwind_GetCFA(context);

	if (walk->skip) {
		walk->skip--;
		return _URC_NO_REASON;
	}
	/* The outermost function has 0. On a stack that was made by hand, a frame may be its own caller. */
	if (!address || (address == walk->address && frame == walk->frame))
		return _URC_END_OF_STACK;
	walk->address = address;
	walk->frame = frame;
	if (walk->nr < walk->max)
		walk->to[walk->nr++] = address;
	return walk->nr == walk->max ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* A function of its own in every build: it is what is left out first. */
__attribute__((noinline)) unsigned int tp_stack_take(uintptr_t *to, unsigned int max, unsigned int skip)
{
	struct walk walk = {.to = to, .max = max, .skip = skip + 1};

	_Unwind_Backtrace(step, &walk);
	return walk.nr;
}

void tp_stack_start(void)
{
	uintptr_t outermost[8];

	tp_stack_take(outermost, sizeof(outermost) / sizeof(outermost[0]), 0);
}
