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

/* How deep a function that is to be left out may be. */
#define INNERMOST 16

struct walk {
	uintptr_t *to;
	unsigned int nr, max;
	unsigned int skip;
	unsigned int steps;
	uintptr_t address, frame;  /* of the step before */
	const uintptr_t *functions; /* that are left out, with all that they have called */
	unsigned int nr_functions;
};

static bool is_left_out(const struct walk *walk, uintptr_t function)
{
	for (unsigned int i = 0; i < walk->nr_functions; i++) {
		if (walk->functions[i] == function)
			return true;
	}
	return false;
}

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
	const bool among_innermost = walk->nr_functions && walk->steps++ < INNERMOST;
	if (among_innermost && is_left_out(walk, (uintptr_t)_Unwind_GetRegionStart(context)))
		walk->nr = 0;
	else if (walk->nr < walk->max)
		walk->to[walk->nr++] = address;
	return walk->nr == walk->max && !among_innermost ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* These are functions of their own in every build: each is what is left out first. */
__attribute__((noinline)) unsigned int tp_stack_take(uintptr_t *to, unsigned int max, unsigned int skip)
{
	struct walk walk = {.to = to, .max = max, .skip = skip + 1};

	_Unwind_Backtrace(step, &walk);
	return walk.nr;
}

__attribute__((noinline)) unsigned int tp_stack_take_behind(uintptr_t *to, unsigned int max, const uintptr_t *functions,
							     unsigned int nr)
{
	struct walk walk = {.to = to, .max = max, .skip = 1, .functions = functions, .nr_functions = nr};

	_Unwind_Backtrace(step, &walk);
	return walk.nr;
}

void tp_stack_start(void)
{
	uintptr_t outermost[8];

	tp_stack_take(outermost, sizeof(outermost) / sizeof(outermost[0]), 0);
}
