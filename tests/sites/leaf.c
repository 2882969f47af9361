/* SPDX-License-Identifier: MIT */
/* Leaf functions that have a site. This is compiled as C and as C++. */
#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__x86_64__) && TP_STATIC_KEYS
extern void (*const leaf_call_any)(void);
void (*const leaf_call_any)(void) = tp_call_probes_any; /* this file's */
#endif

static long leaf_hit_place;

long leaf_none(long a, long b);
long leaf_hit(long a, long b);
long leaf_pushing(long a, long b);
long leaf_real(long a, long b);

long leaf_none(long a, long b)
{
	trace_stack_none();
	return a * b;
}

long leaf_hit(long a, long b)
{
	trace_stack_hit((int)a, (void *)&leaf_hit_place);
	return a * b;
}

/* It needs more registers than it may use without saving them, and the red zone. */
long leaf_pushing(long a, long b)
{
	long i0 = a + b, i1 = a * 3, i2 = b * 5, i3 = a ^ b, i4 = a - b, i5 = b * 7, i6 = a * 9;
	volatile long slot[4] = {a, b, a, b};

	__asm__ volatile("" : "+r"(i0), "+r"(i1), "+r"(i2), "+r"(i3), "+r"(i4), "+r"(i5), "+r"(i6));
	trace_stack_hit((int)i0, (void *)0);
	return a * b + (i0 ^ i1 ^ i2 ^ i3 ^ i4 ^ i5 ^ i6) * 0 + (slot[0] + slot[1] - slot[2] - slot[3]);
}

long leaf_real(long a, long b)
{
	trace_stack_real((double)a);
	return a * b;
}

#ifdef __cplusplus
}
#endif
