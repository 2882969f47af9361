/* SPDX-License-Identifier: MIT */
/*
 * record/stack.h - who has hit the tracepoint.
 */
#ifndef TP_RECORD_STACK_H
#define TP_RECORD_STACK_H

#include <stdint.h>

#include <tp/sink.h>

#define TP_RECORD_STACK_MAX 64u

/*
 * The return addresses on the stack of the thread whose record this is, at most max or
 * TP_RECORD_STACK_MAX: the first is in the function with the
 * tracepoint. What is between that and the caller (the event's writer, the runtime) is left out. Between reserve and
 * commit, or in commit; after tp_stack_start(). Safe in signal handlers. Returns how many there are.
 */
unsigned int tp_record_stack(const struct tp_record *rec, uintptr_t *to, unsigned int max);

#endif /* TP_RECORD_STACK_H */
