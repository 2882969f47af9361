/* SPDX-License-Identifier: MIT */
/*
 * record/stack.c - see stack.h.
 *
 * The innermost functions are the library's, as many as there happen to be: a filter adds some. Then come the event's
 * writer, by which they are told from the program's; the iterator, which has called it; and on x86-64 perhaps
 * tp_call_probes, which has called that.
 */
#include <string.h>
#include <unwind.h>

#include "base/stack.h"
#include "record/stack.h"

/* Of the library's functions and these three. */
#define INNER_MAX 16

/* Where the function begins that has made the call. */
static uintptr_t function_of(uintptr_t return_address)
{
	return (uintptr_t)_Unwind_FindEnclosingFunction((void *)return_address);
}

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

/* How many of the addresses are not the program's. 0: the writer is not among them. */
static unsigned int count_inner(const struct tp_record *rec, const uintptr_t *addresses, unsigned int nr)
{
	const uintptr_t writer = (uintptr_t)rec->event->record;
	unsigned int i = 0;

	while (i < nr && i < INNER_MAX && function_of(addresses[i]) != writer)
		i++;
	i += 2;
	if (i >= nr || i > INNER_MAX)
		return 0;
	return i + in_call_probes(addresses[i]);
}

unsigned int tp_record_stack(const struct tp_record *rec, uintptr_t *to, unsigned int max)
{
	uintptr_t addresses[INNER_MAX + TP_RECORD_STACK_MAX];
	const unsigned int wanted = max < TP_RECORD_STACK_MAX ? max : TP_RECORD_STACK_MAX;
	const unsigned int nr = tp_stack_take(addresses, INNER_MAX + wanted, 1);
	const unsigned int inner = count_inner(rec, addresses, nr);
	const unsigned int rest = nr - inner < wanted ? nr - inner : wanted;

	memcpy(to, addresses + inner, rest * sizeof(*to));
	return rest;
}
