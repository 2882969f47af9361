/* SPDX-License-Identifier: MIT */
/*
 * record/stack.h - who has hit the tracepoint.
 */
#ifndef TP_RECORD_STACK_H
#define TP_RECORD_STACK_H

#include <stdint.h>

#include <tp/event.h>

/* How many functions can lie between the tracepoint and who asks. */
#define TP_RECORD_STACK_INNER 16u

/*
 * The return addresses on the stack of a thread that is recording this event: the first is in the function with the
 * tracepoint. What is between that and the caller (the runtime, the event's writer) is left out, so that it is the same
 * however the tracepoint was hit. Between reserve and commit, or in commit; after tp_stack_start(). Safe in signal
 * handlers. Returns how many there are, at most max; to has room for TP_RECORD_STACK_INNER more.
 */
unsigned int tp_stack_of_event(const struct tp_event *event, uintptr_t *to, unsigned int max);

#endif /* TP_RECORD_STACK_H */
