/* SPDX-License-Identifier: MIT */
/*
 * base/stack.h - who has called: the return addresses on a thread's stack.
 */
#ifndef TP_STACK_H
#define TP_STACK_H

#include <stdint.h>

/*
 * What the unwinder does only once in a process, and not in a signal handler. Before tp_stack_take(), by a thread that is
 * in no handler.
 */
void tp_stack_start(void);

/*
 * The return addresses on the caller's stack, the innermost first: to[0] is in the function that has called, unless the
 * first skip are left out. Returns how many there are, at most max. The stack is read by the unwind tables of the program
 * and its libraries, and ends at a function that has none. Safe in signal handlers; it goes on behind a handler, in the
 * function that was interrupted. It allocates nothing.
 *
 * A stack that was made by hand must begin with 0 or with the address of code, as coroutine libraries have it: the
 * unwinder looks at the instruction there.
 */
unsigned int tp_stack_take(uintptr_t *to, unsigned int max, unsigned int skip);

#endif /* TP_STACK_H */
