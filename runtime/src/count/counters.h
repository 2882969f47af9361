/* SPDX-License-Identifier: MIT */
/*
 * count/counters.h - numbers that all threads add to. Each thread has a row of its own, so that no thread waits for another
 * one's cache line; who reads adds the rows up.
 *
 * An addition is one instruction that a signal handler can't interrupt in its middle: a handler's additions to the same row
 * are never lost. A row outlives its thread: the next thread that gets the number goes on with it.
 *
 * All threads that have no row add to the shared one, by atomic instructions: those beyond TP_COUNTER_ROWS, those that have
 * no memory, and those whose last destructors run.
 *
 * Whoever reads meanwhile gets each number as it was at some moment, but not all numbers as they were at the same one.
 */
#ifndef TP_COUNTERS_H
#define TP_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* Threads at a time that have rows of their own; the shared row is number 0. */
#define TP_COUNTER_ROWS 4096u

/* Of all rows of one struct tp_counters together. */
#define TP_COUNTER_BYTES ((size_t)256 << 20)

struct tp_counters {
	size_t size;             /* of a row, in bytes */
	uint32_t nr_rows;        /* that there may be, with the shared one */
	uint32_t used;           /* all rows are below this number */
	uint64_t *shared;
	uint64_t *rows[TP_COUNTER_ROWS]; /* by the threads' numbers; rows[0] is always NULL */
};

/* The calling thread's number among those that count; 0: it has none yet. */
extern TP_THREAD_LOCAL uint32_t tp_counter_thread;

/* For those that keep something for each thread that has a row. */
struct tp_counter_hook {
	void (*leave)(void); /* the calling thread is about to give its number back; inside tp_guard_enter() */
	bool known;
	struct tp_counter_hook *next;
};

/* From now on, leave() is called. One caller at a time, but again as often as he likes. */
void tp_counters_hook(struct tp_counter_hook *hook);

/* For so many numbers, all 0. NULL: no memory. The pages of a row come as they are touched. */
struct tp_counters *tp_counters_new(size_t nr);
void tp_counters_free(struct tp_counters *counters);

/* All are 0 again, while nobody else is there: in a forked child. */
void tp_counters_forget(struct tp_counters *counters);

uint64_t *tp_counters_find_row(struct tp_counters *counters);

/* The row that the calling thread adds to. In signal handlers, too. */
static inline uint64_t *tp_counters_row(struct tp_counters *counters)
{
	uint64_t *row = __atomic_load_n(&counters->rows[tp_counter_thread], __ATOMIC_ACQUIRE);

	return __builtin_expect(row != NULL, 1) ? row : tp_counters_find_row(counters);
}

/* A thread's own row is changed by single instructions, which no signal handler can interrupt. Elsewhere they are atomic. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TP_COUNTERS_BY_INSTRUCTIONS 1
#else
#define TP_COUNTERS_BY_INSTRUCTIONS 0
#endif

/* Adds to the number at this place of that row. */
static inline void tp_counters_add(const struct tp_counters *counters, uint64_t *row, size_t at, uint64_t value)
{
#if TP_COUNTERS_BY_INSTRUCTIONS
	if (__builtin_expect(row != counters->shared, 1)) {
		__asm__ volatile("addq %1, %0" : "+m"(row[at]) : "er"(value) : "cc");
		return;
	}
#else
	(void)counters;
#endif
	__atomic_fetch_add(&row[at], value, __ATOMIC_RELAXED);
}

/* The same with a number of 128 bits, whose upper half is at the next place. Each addition adds its own carry. */
static inline void tp_counters_add_wide(const struct tp_counters *counters, uint64_t *row, size_t at, uint64_t value)
{
#if TP_COUNTERS_BY_INSTRUCTIONS
	if (__builtin_expect(row != counters->shared, 1)) {
		__asm__ volatile("addq %2, %0\n\tadcq $0, %1" : "+m"(row[at]), "+m"(row[at + 1]) : "er"(value) : "cc");
		return;
	}
#else
	(void)counters;
#endif
	if (__atomic_fetch_add(&row[at], value, __ATOMIC_RELAXED) > UINT64_MAX - value)
		__atomic_fetch_add(&row[at + 1], 1, __ATOMIC_RELAXED);
}

/* Puts a value there, if *found still is. Else false, and *found is what is there. */
static inline bool tp_counters_replace(const struct tp_counters *counters, uint64_t *row, size_t at, uint64_t *found, uint64_t value)
{
#if TP_COUNTERS_BY_INSTRUCTIONS
	if (__builtin_expect(row != counters->shared, 1)) {
		bool replaced;
		__asm__ volatile("cmpxchgq %3, %0" : "+m"(row[at]), "+a"(*found), "=@ccz"(replaced) : "r"(value));
		return replaced;
	}
#else
	(void)counters;
#endif
	return __atomic_compare_exchange_n(&row[at], found, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Makes it the value, if that is greater. */
static inline void tp_counters_raise(const struct tp_counters *counters, uint64_t *row, size_t at, uint64_t value)
{
	uint64_t found = __atomic_load_n(&row[at], __ATOMIC_RELAXED);

	while (__builtin_expect(value > found, 0) && !tp_counters_replace(counters, row, at, &found, value))
		;
}

/* That of this number, which is below counters->used; 0 is the shared one. NULL: there is none. */
static inline const uint64_t *tp_counters_row_of(const struct tp_counters *counters, uint32_t number)
{
	return number ? __atomic_load_n(&counters->rows[number], __ATOMIC_ACQUIRE) : counters->shared;
}

static inline uint32_t tp_counters_used(const struct tp_counters *counters)
{
	return __atomic_load_n(&counters->used, __ATOMIC_ACQUIRE);
}

/* What all rows have at this place, added up. */
uint64_t tp_counters_sum(const struct tp_counters *counters, size_t at);

#endif /* TP_COUNTERS_H */
