/* SPDX-License-Identifier: MIT */
/*
 * count/counters.c - the threads' numbers, and their rows.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/guard.h"
#include "base/text.h"
#include "base/thread.h"
#include "count/counters.h"

/* ---- The numbers of the threads that count ---- */

TP_THREAD_LOCAL uint32_t tp_counter_thread;

#define BITS 64u

/* A bit for each number that is taken; number 0 is nobody's. */
static uint64_t taken[TP_COUNTER_ROWS / BITS] = {1};

static uint32_t take_of(uint32_t word)
{
	uint64_t bits = __atomic_load_n(&taken[word], __ATOMIC_RELAXED);

	while (~bits) {
		const uint32_t bit = (uint32_t)__builtin_ctzll(~bits);
		/* Acquires what the thread that had the number before has added. */
		if (__atomic_compare_exchange_n(&taken[word], &bits, bits | (uint64_t)1 << bit, true, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return word * BITS + bit;
	}
	return 0;
}

static void give(uint32_t number)
{
	__atomic_fetch_and(&taken[number / BITS], ~((uint64_t)1 << number % BITS), __ATOMIC_RELEASE);
}

static struct tp_counter_hook *hooks;

void tp_counters_hook(struct tp_counter_hook *hook)
{
	if (hook->known)
		return;
	hook->known = true;
	hook->next = hooks;
	__atomic_store_n(&hooks, hook, __ATOMIC_RELEASE);
}

/* A signal handler from here on, or a later destructor, that hits a tracepoint takes a number anew. */
static void leave(void)
{
	const struct tp_counter_hook *hook = __atomic_load_n(&hooks, __ATOMIC_ACQUIRE);
	const uint32_t number = tp_counter_thread;
	struct tp_guard guard;

	if (!number || !tp_guard_enter(&guard))
		return;
	for (; hook; hook = hook->next)
		hook->leave();
	tp_counter_thread = 0;
	tp_guard_leave(&guard);
	give(number);
}

/* Signals are blocked. */
static void take(void)
{
	if (tp_counter_thread || !tp_thread_arm(leave))
		return;
	for (uint32_t word = 0; word < TP_COUNTER_ROWS / BITS && !tp_counter_thread; word++)
		tp_counter_thread = take_of(word);
}

/* In a forked child, the numbers of the threads that are not there are free. */
static void forget_other_threads(void)
{
	memset(taken, 0, sizeof(taken));
	taken[0] = 1;
	taken[tp_counter_thread / BITS] |= (uint64_t)1 << tp_counter_thread % BITS;
}

/* ---- Rows ---- */

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct tp_counters *tp_counters_new(size_t nr)
{
	struct tp_counters *counters = map(sizeof(*counters));
	const size_t size = nr * sizeof(uint64_t);

	if (!counters)
		return NULL;
	counters->size = size;
	counters->nr_rows = size < TP_COUNTER_BYTES / TP_COUNTER_ROWS ? TP_COUNTER_ROWS : (uint32_t)(TP_COUNTER_BYTES / size);
	counters->used = 1;
	counters->shared = map(size);
	if (counters->shared)
		return counters;
	munmap(counters, sizeof(*counters));
	return NULL;
}

void tp_counters_free(struct tp_counters *counters)
{
	if (!counters)
		return;
	for (uint32_t i = 1; i < counters->used; i++) {
		if (counters->rows[i])
			munmap(counters->rows[i], counters->size);
	}
	munmap(counters->shared, counters->size);
	munmap(counters, sizeof(*counters));
}

/* Pages that were never touched are only read. */
static void clear(uint64_t *row, size_t size)
{
	for (size_t i = 0; i < size / sizeof(*row); i++) {
		if (row[i])
			row[i] = 0;
	}
}

/* The thread's own row stays: a handler that forks may have interrupted an addition to it. */
void tp_counters_forget(struct tp_counters *counters)
{
	forget_other_threads();
	clear(counters->shared, counters->size);
	for (uint32_t i = 1; i < counters->used; i++) {
		if (!counters->rows[i])
			continue;
		if (i == tp_counter_thread) {
			clear(counters->rows[i], counters->size);
			continue;
		}
		munmap(counters->rows[i], counters->size);
		counters->rows[i] = NULL;
	}
}

static void use_up_to(struct tp_counters *counters, uint32_t number)
{
	uint32_t used = __atomic_load_n(&counters->used, __ATOMIC_RELAXED);

	while (used <= number && !__atomic_compare_exchange_n(&counters->used, &used, number + 1, true, __ATOMIC_RELEASE,
							      __ATOMIC_RELAXED))
		;
}

TP_COLD uint64_t *tp_counters_find_row(struct tp_counters *counters)
{
	struct tp_guard guard;
	uint64_t *row = NULL;

	if (tp_counter_thread >= counters->nr_rows || !tp_guard_enter(&guard))
		return counters->shared;
	take();
	if (tp_counter_thread && tp_counter_thread < counters->nr_rows) {
		row = counters->rows[tp_counter_thread];
		if (!row)
			row = map(counters->size);
		if (row)
			use_up_to(counters, tp_counter_thread);
		__atomic_store_n(&counters->rows[tp_counter_thread], row, __ATOMIC_RELEASE);
	}
	tp_guard_leave(&guard);
	return row ? row : counters->shared;
}

uint64_t tp_counters_sum(const struct tp_counters *counters, size_t at)
{
	const uint32_t used = tp_counters_used(counters);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < used; i++) {
		const uint64_t *row = tp_counters_row_of(counters, i);
		if (row)
			sum += __atomic_load_n(&row[at], __ATOMIC_RELAXED);
	}
	return sum;
}
