/* SPDX-License-Identifier: MIT */
/*
 * base/hit.c - hits that go the slow way: inside another one, or of a thread that liburcu does not know.
 *
 * A handler may leave a hit by siglongjmp(): that of a server which survives a bad pointer in TP_fast_assign. What is on a
 * stack where it was, or higher, is not inside it.
 */
#include <signal.h>

#include "base/base.h"
#include "base/file.h"
#include "base/hit.h"
#include "base/readers.h"
#include "base/thread.h"

TP_THREAD_LOCAL struct tp_hit tp_hit;

static bool is_on(const stack_t *stack, uintptr_t address)
{
	return address - (uintptr_t)stack->ss_sp < stack->ss_size;
}

/* A handler with a stack of its own may be higher, and inside it. In a sandbox that can't be asked. */
bool tp_frame_was_left(uintptr_t outermost, uintptr_t frame)
{
	stack_t stack;

	if (frame < outermost || tp_sandboxed || sigaltstack(NULL, &stack) != 0)
		return false;
	return !(stack.ss_flags & SS_ONSTACK) || is_on(&stack, outermost);
}

/* Ends the outermost hit, if what has this frame is not inside it. Its records are counted as lost. */
static void end_left(uintptr_t frame)
{
	if (!tp_hit.outermost || !tp_frame_was_left(tp_hit.outermost, frame))
		return;
	tp_hit_set(frame); /* a handler that comes now is inside this */
	const bool known = tp_is_known_reader();
	tp_thread_leave();
	if (known)
		tp_read_unlock();
	tp_hit_set(0);
}

bool tp_reading_at(uintptr_t frame)
{
	end_left(frame);
	return tp_is_reader();
}

/* An iterator's frame is near, but a handler may have come in between, with a hit of its own. */
static uintptr_t frame_of_iterator(uintptr_t callee)
{
	const uintptr_t near = 4096;

	return tp_hit.slow - callee < near ? tp_hit.slow : callee;
}

int tp_slow_hit_begin(void)
{
	const uintptr_t frame = frame_of_iterator(TP_HIT_FRAME);

	end_left(frame);
	if (tp_hit.outermost)
		return TP_HIT_NESTED;
	const int hit = tp_first_hit();
	tp_hit_set(frame);
	return hit;
}

void tp_slow_hit_end(int hit)
{
	if (hit == TP_HIT_NESTED)
		return;
	tp_hit_set(0);
	tp_first_hit_end(hit);
}
