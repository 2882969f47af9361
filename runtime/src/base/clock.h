/* SPDX-License-Identifier: MIT */
/*
 * base/clock.h - what the times of records are counted in: ticks of the
 * processor's counter, or nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef TP_CLOCK_H
#define TP_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* The counter and another clock at the same moment. */
struct tp_clock_reading {
	uint64_t ticks;
	uint64_t ns;       /* of the other clock */
	uint64_t width;    /* ticks that the moment took */
	uint64_t slept_ns; /* by the machine until then; at the ends of the baseline */
};

/* The time of a tick is offset_s + (offset + tick) / frequency seconds from the epoch, as CLOCK_REALTIME was at the opening. */
struct tp_clock {
	bool counter; /* tp_read_counter() has the ticks; else they are nanoseconds of CLOCK_MONOTONIC */
	const char *name; /* an identifier, as CTF wants it */
	const char *description;
	uint64_t frequency; /* ticks a second */
	int64_t offset_s;   /* of tick 0; negative where a counter did not begin at 0 */
	uint64_t offset;    /* ticks, fewer than frequency */

	/* clock.c's own */
	struct tp_clock_reading epoch; /* with CLOCK_REALTIME; it stays where the clock is refined */
	struct tp_clock_reading first; /* with CLOCK_MONOTONIC: the beginning of the baseline */
	uint64_t baseline_ns;          /* 0 where the frequency is known exactly */
	uint64_t width;                /* of both ends of the baseline */
};

/* Takes the first reading, by which the frequency will be found. Once a process; under a microsecond. */
void tp_clock_start(void);

/* Chooses and calibrates. It may sleep for the first 2 ms of a process. Never fails. */
void tp_clock_open(struct tp_clock *clock);

/*
 * Measures the frequency better, where the baseline has at least doubled.
 * True where the clock has changed, and with it the times of the trace so far.
 * One caller at a time, while nobody has times converted. Safe in signal
 * handlers.
 */
bool tp_clock_refine(struct tp_clock *clock);

uint64_t tp_clock_now(const struct tp_clock *clock); /* ticks */
uint64_t tp_clock_to_ns(const struct tp_clock *clock, uint64_t ticks); /* since the epoch */

/* For tests. Sets the offset so that ticks are ns from the epoch; ticks a second where so many passed in ns. */
void tp_clock_anchor(struct tp_clock *clock, uint64_t ticks, uint64_t ns);
uint64_t tp_clock_frequency(uint64_t ticks, uint64_t ns);

/*
 * The processor's counter, read in a few instructions. Whether it may be used, and what time it stands for, is
 * the runtime's to say: the counter may not be invariant, and reading it may be forbidden.
 */

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

#endif /* TP_CLOCK_H */
