/* SPDX-License-Identifier: MIT */
/*
 * test_counters.c - numbers in rows: nothing of them is lost between threads and their handlers. Handlers after each
 * instruction are by the processor's trap flag, so on x86-64 only.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "count/table.h"
#include "filter/value.h"
#include "util.h"

static struct tp_counters *counters;

static void setup(void)
{
	counters = tp_counters_new(16);
	ck_assert_ptr_nonnull(counters);
}

static void teardown(void)
{
	tp_counters_free(counters);
}

FIXTURE(setup, teardown)

enum { ADDED, LOW, HIGH, RAISED, REPLACED };

static void change(uint64_t *row, uint64_t by)
{
	uint64_t found = __atomic_load_n(&row[REPLACED], __ATOMIC_RELAXED);

	tp_counters_add(counters, row, ADDED, by);
	tp_counters_add_wide(counters, row, LOW, UINT64_MAX - by);
	tp_counters_raise(counters, row, RAISED, by);
	while (!tp_counters_replace(counters, row, REPLACED, &found, found + by))
		;
}

/* What becomes of so many changes by 1, and by 2. */
static void check(uint64_t by_1, uint64_t by_2)
{
	const uint64_t sum = by_1 + 2 * by_2, changes = by_1 + by_2;
	uint64_t high = 0, low = 0, raised = 0;

	for (uint32_t i = 0; i < tp_counters_used(counters); i++) {
		const uint64_t *row = tp_counters_row_of(counters, i);
		if (!row)
			continue;
		high += row[HIGH] + __builtin_add_overflow(low, row[LOW], &low);
		raised = row[RAISED] > raised ? row[RAISED] : raised;
	}
	ck_assert_uint_eq(tp_counters_sum(counters, ADDED), sum);
	ck_assert_uint_eq(tp_counters_sum(counters, REPLACED), sum);
	ck_assert_uint_eq(low, 0 - changes - sum);
	ck_assert_uint_eq(high, changes - 1); /* changes * (2^64 - 1) - sum */
	ck_assert_uint_eq(raised, by_2 ? 2 : 1);
}

TEST(own_row_and_shared_one)
{
	for (int i = 0; i < 5; i++)
		change(tp_counters_row(counters), 1);
	check(5, 0);
	ck_assert_uint_ne(tp_counter_thread, 0);
	ck_assert_ptr_eq(counters->rows[tp_counter_thread], tp_counters_row(counters));
	for (int i = 0; i < 3; i++)
		change(counters->shared, 2);
	check(5, 3);
	tp_counters_forget(counters);
	ck_assert_uint_eq(tp_counters_sum(counters, ADDED), 0);
}

/* ---- Keys ---- */

#define LONGEST 70

/* Of each length; the last word is filled up with zeros. What is behind the text is not looked at. */
TEST(texts_in_keys)
{
	char text[LONGEST + 1];
	struct tp_count_key key;

	for (size_t i = 0; i <= LONGEST; i++)
		text[i] = (char)(i * 37 % 255 + 1);
	for (size_t len = 0; len <= LONGEST; len++) {
		const struct tp_value array = tp_value_at(TP_SOURCE_ARRAY, 0, (uint32_t)len, false);
		uint64_t words[2 + LONGEST / 8] = {len};
		memcpy(words + 1, text, len);
		memset(&key, 0xee, sizeof(key));
		key.nr = 2;
		tp_count_key_add_text(&key, len, text, len);
		ck_assert_uint_eq(key.nr, 3 + (len + 7) / 8);
		ck_assert(memcmp(key.words + 2, words, (1 + (len + 7) / 8) * sizeof(words[0])) == 0);
		for (size_t end = 0; end <= len; end++) {
			const char kept = text[end];
			text[end] = '\0';
			ck_assert_uint_eq(tp_value_text(&array, text, sizeof(text)).len, end);
			text[end] = kept;
		}
	}
}

/* ---- Threads ---- */

static uint32_t left_with[2];
static unsigned int left;

static void note_number(void)
{
	left_with[left++ % 2] = tp_counter_thread;
}

static void *work(void *nr)
{
	for (int i = 0; i < 1000; i++)
		change(tp_counters_row(counters), 1);
	*(uint32_t *)nr = tp_counter_thread;
	return NULL;
}

/* A row outlives its thread, and another one goes on with it. */
TEST(rows_of_threads)
{
	static struct tp_counter_hook hook = {.leave = note_number};
	pthread_t thread;
	uint32_t numbers[2];

	tp_counters_hook(&hook);
	tp_counters_hook(&hook);
	for (int i = 0; i < 2; i++) {
		pthread_create(&thread, NULL, work, &numbers[i]);
		pthread_join(thread, NULL);
	}
	check(2000, 0);
	ck_assert_uint_ne(numbers[0], 0);
	ck_assert_uint_eq(numbers[0], numbers[1]);
	ck_assert_uint_eq(left, 2);
	ck_assert_uint_eq(left_with[0], numbers[0]);
	ck_assert_uint_eq(left_with[1], numbers[0]);
}

static void *work_at_once(void *unused)
{
	for (int i = 0; i < 20000; i++) {
		change(tp_counters_row(counters), 1);
		change(counters->shared, 2);
	}
	return unused;
}

TEST(threads_at_once)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work_at_once, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	check(80000, 80000);
}

/* ---- Handlers ---- */

#if defined(__x86_64__)

#include "traps.h"

static unsigned long at;
static uint64_t *interrupted;

static void change_at_step(int signal)
{
	(void)signal;
	if (++steps == at)
		change(interrupted, 2);
}

/* In the thread's row, and in that of threads that have none. */
LOOP_TEST(handlers_after_each_instruction, 2)
{
	uint64_t done = 0;

	interrupted = _i ? counters->shared : tp_counters_row(counters);
	signal(SIGTRAP, change_at_step);
	for (at = 1; done + 1 == at; at++) {
		for (size_t i = 0; i < 16; i++)
			interrupted[i] = 0;
		steps = 0;
		traps_on();
		change(interrupted, 1);
		traps_off();
		done += steps >= at;
		check(1, steps >= at);
	}
	signal(SIGTRAP, SIG_DFL);
	ck_assert_uint_gt(done, 15);
}

#endif
