/* SPDX-License-Identifier: MIT */
/*
 * test_pairs.c - begins that wait for their ends: the latest is taken, each once, whoever else is at work; and the buckets of
 * durations.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "count/buckets.h"
#include "count/pairs.h"
#include "util.h"

/* ---- Buckets ---- */

TEST(buckets_follow_each_other)
{
	for (uint32_t i = 0; i < TP_NR_BUCKETS; i++) {
		const uint64_t begin = tp_bucket_begin(i), width = tp_bucket_width(i), last = begin + (width - 1);
		ck_assert_uint_eq(tp_bucket_of(begin), i);
		ck_assert_uint_eq(tp_bucket_of(last), i);
		ck_assert_uint_eq(last + 1, i + 1 < TP_NR_BUCKETS ? tp_bucket_begin(i + 1) : 0);
		ck_assert(width == 1 || width <= begin >> TP_BUCKET_BITS); /* half of it is 1.6 % */
	}
	ck_assert_uint_eq(tp_bucket_of(UINT64_MAX), TP_NR_BUCKETS - 1);
}

/* ---- Pairs ---- */

static struct tp_pairs pairs;

static void setup(void)
{
	ck_assert(tp_pairs_open(&pairs, true));
}

static void teardown(void)
{
	tp_pairs_close(&pairs);
}

FIXTURE(setup, teardown)

static struct tp_pair_key key_of(uint64_t number)
{
	const struct tp_count_key key = {.nr = 1, .words = {number}};

	return tp_pair_key_of(&key);
}

static void begin(uint64_t key, uint64_t time)
{
	const struct tp_pair pair = {.time = time, .data = key, .size = sizeof(time)};

	tp_pairs_begin(&pairs, key_of(key), &pair, &time);
}

static uint64_t nr_wrong; /* check's own functions take a lock, which a handler must not wait for */

/* The time of the begin; 0: there is none. */
static uint64_t end(uint64_t key)
{
	char record[TP_PAIRS_RECORD];
	struct tp_pair pair;
	uint64_t time;

	if (!tp_pairs_end(&pairs, key_of(key), &pair, record))
		return 0;
	memcpy(&time, record, sizeof(time));
	if (pair.data != key || pair.size != sizeof(time) || pair.time != time)
		__atomic_add_fetch(&nr_wrong, 1, __ATOMIC_RELAXED);
	return time;
}

TEST(the_latest_of_a_key)
{
	uint64_t earliest = 0;

	begin(1, 10);
	begin(2, 20);
	begin(1, 30);
	ck_assert_uint_eq(tp_pairs_waiting(&pairs, &earliest), 3);
	ck_assert_uint_eq(earliest, 10);
	ck_assert_uint_eq(end(1), 30);
	ck_assert_uint_eq(end(1), 10);
	ck_assert_uint_eq(end(1), 0);
	ck_assert_uint_eq(end(2), 20);
	ck_assert_uint_eq(pairs.unmatched, 1);
	ck_assert_uint_eq(tp_pairs_waiting(&pairs, &earliest), 0);
}

TEST(the_oldest_is_forgotten)
{
	for (uint64_t i = 1; i <= TP_PAIRS_SET + 3; i++)
		begin(7, i);
	ck_assert_uint_eq(pairs.forgotten, 3);
	for (uint64_t i = TP_PAIRS_SET + 3; i > 3; i--)
		ck_assert_uint_eq(end(7), i);
	ck_assert_uint_eq(end(7), 0);
}

TEST(keys_of_several_words)
{
	struct tp_count_key one = {.nr = 0}, other = {.nr = 0};

	tp_count_key_add(&one, "ab", 2);
	tp_count_key_add(&one, "c", 1);
	tp_count_key_add(&other, "a", 1);
	tp_count_key_add(&other, "bc", 2);
	ck_assert(tp_pair_key_of(&one).hash != tp_pair_key_of(&other).hash);
	ck_assert(tp_pair_key_of(&one).check != tp_pair_key_of(&other).check);
	one.nr = 0;
	tp_count_key_add(&one, NULL, 0);
	ck_assert_uint_eq(one.nr, 1);
}

TEST(a_record_that_is_too_long_is_not_kept)
{
	const char record[TP_PAIRS_RECORD + 1] = "";
	const struct tp_pair pair = {.time = 5, .size = sizeof(record)};
	struct tp_pair found;

	tp_pairs_begin(&pairs, key_of(1), &pair, record);
	ck_assert(tp_pairs_end(&pairs, key_of(1), &found, NULL));
	ck_assert_uint_eq(found.size, 0);
	ck_assert_uint_eq(found.time, 5);
}

/* ---- Threads and handlers that share keys ---- */

#define KEYS 4
#define ROUNDS 100000

static uint64_t nr_begun, nr_ended;

static void begin_and_end(uint64_t round)
{
	begin(round % KEYS, 1 + round);
	__atomic_add_fetch(&nr_begun, 1, __ATOMIC_RELAXED);
	if (end(round % KEYS))
		__atomic_add_fetch(&nr_ended, 1, __ATOMIC_RELAXED);
}

static void on_alarm(int sig)
{
	(void)sig;
	begin_and_end(0);
}

static void *in_thread(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < ROUNDS; i++)
		begin_and_end(i);
	return NULL;
}

TEST(each_begin_is_taken_once)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	pthread_t threads[4];
	uint64_t earliest;

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	ck_assert_uint_eq(nr_wrong, 0);
	ck_assert_uint_eq(nr_ended + tp_pairs_waiting(&pairs, &earliest) + pairs.forgotten, nr_begun);
	ck_assert_uint_eq(nr_ended + pairs.unmatched, nr_begun);
	for (uint64_t i = 0; i < TP_PAIRS; i++)
		ck_assert_uint_ne(pairs.tags[i], 1); /* busy */
}

TEST(a_child_has_none)
{
	uint64_t earliest;

	begin(1, 1);
	tp_pairs_forget(&pairs);
	ck_assert_uint_eq(tp_pairs_waiting(&pairs, &earliest), 0);
	ck_assert_uint_eq(end(1), 0);
}
