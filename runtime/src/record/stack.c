/* SPDX-License-Identifier: MIT */
/*
 * record/stack.c - see stack.h.
 *
 * The innermost functions are the library's, as many as there happen to be: a filter adds some. Then comes the event's
 * writer; what the iterator has called it by, which is a function more at a thread's first hit and where there are several
 * probes; the iterator; and on x86-64 perhaps tp_call_probes, which has called that.
 */
#include <string.h>

#include "base/stack.h"
#include "record/stack.h"

/* Of a file's own tp_call_probes_any, too, which has no name here: by what is around the call, see tp/call.h. */
static bool in_call_probes(uintptr_t return_address)
{
#if defined(__x86_64__)
	static const unsigned char around[] = {
		0xff, 0x50, 0x10,       /* call *16(%rax) */
		0x48, 0x8b, 0x7d, 0xf8, /* mov -8(%rbp), %rdi */
		0x48, 0x8b, 0x75, 0xf0, /* mov -16(%rbp), %rsi */
	};

	return memcmp((const char *)return_address - 3, around, sizeof(around)) == 0;
#else
	(void)return_address;
	return false;
#endif
}

/*
 * How many of the addresses are not the program's; 0 if that can't be told. The iterator tells it, or else the writer, which
 * an iterator has called: that of another module's tracepoint of this name, or of one that was built with an older header.
 * A hit that an outer one has led to is nearer.
 */
static unsigned int count_inner(const struct tp_event *event, const uintptr_t *addresses, unsigned int nr)
{
	const struct tracepoint *tp = event->tracepoint;
	const uintptr_t iterator = (uintptr_t)tp->iterate, flag_iterate = (uintptr_t)tp->flag_iterate;
	const uintptr_t writer = (uintptr_t)event->record;
	unsigned int inner = 0;

	for (unsigned int i = 0; i < nr && i < TP_RECORD_STACK_INNER; i++) {
		const uintptr_t function = tp_stack_function(addresses[i]);
		if (function && (function == iterator || function == flag_iterate)) {
			inner = i + 1;
			break;
		}
		if (function == writer && !inner)
			inner = i + 2;
	}
	if (inner >= nr)
		return 0;
	return inner && in_call_probes(addresses[inner]) ? inner + 1 : inner;
}

unsigned int tp_stack_of_event(const struct tp_event *event, uintptr_t *to, unsigned int max)
{
	const unsigned int nr = tp_stack_take(to, TP_RECORD_STACK_INNER + max, 0);
	const unsigned int inner = count_inner(event, to, nr);
	const unsigned int rest = nr - inner < max ? nr - inner : max;

	memmove(to, to + inner, rest * sizeof(*to));
	return rest;
}
