/* SPDX-License-Identifier: MIT */
/*
 * base/counter.h - the processor's counter, read in a few instructions. Whether
 * it may be used, and what time it stands for, is the runtime's to say: the
 * counter may not be invariant, and reading it may be forbidden.
 */
#ifndef TP_COUNTER_H
#define TP_COUNTER_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__)
#define TP_HAS_COUNTER 1
#else
#define TP_HAS_COUNTER 0
#endif

/*
 * In ticks. No fence in front of it, which would cost more than the reading:
 * the processor may read some instructions early or late, so a thread's next
 * time may come out a few ticks below its last one. Who needs them in order
 * compares, and takes the last one then.
 */
static inline __attribute__((always_inline)) uint64_t tp_read_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

#endif /* TP_COUNTER_H */
