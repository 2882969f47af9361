/* SPDX-License-Identifier: MIT */
/*
 * test_hist_saved.c - what entries of a histogram have besides sums, shared by threads without a lock: what is saved is
 * whole, no block is lost, and a variable that is set once is read once.
 */
#include <pthread.h>
#include <stdbool.h>

#include "sinks/hist/variable.h"
#include "util.h"

#define WORDS 33u
#define ROUNDS 200000u
#define WRITERS 2

static struct tp_hist_table *table;
static struct tp_count_entry *entry;

static void setup(void)
{
	const struct tp_hist_shape shape = {
		.key_words = 1, .nr_variables = 2, .nr_actions = 1, .block_words = WORDS,
		.variables = {TP_HIST_KEY_NUMBER, TP_HIST_KEY_TEXT},
	};
	const struct tp_count_key key = {.nr = 1, .words = {7}};

	table = tp_hist_table_new(TP_HIST_BITS_MIN, &shape);
	ck_assert_ptr_nonnull(table);
	ck_assert_uint_eq(tp_count_table_find(&table->entries, &key), TP_COUNT_NO_ENTRY);
	const uint32_t number = tp_count_table_insert(&table->entries, &key);
	ck_assert_uint_eq(tp_count_table_find(&table->entries, &key), number);
	entry = tp_count_entry_at(&table->entries, number);
}

static void teardown(void)
{
	tp_hist_table_free(table);
}

/* ---- What is saved ---- */

static void fill_in(uint64_t *words, void *data)
{
	for (uint32_t i = 0; i < WORDS; i++)
		__atomic_store_n(&words[i], *(uint64_t *)data, __ATOMIC_RELEASE);
}

static bool save(enum tp_hist_handler handler, uint64_t value)
{
	return tp_hist_save(table, tp_hist_saved_of(table, entry), handler, value, fill_in, &value);
}

/* 0: nothing was saved. */
static uint64_t saved(bool *torn)
{
	uint64_t words[WORDS], value;

	*torn = false;
	if (!tp_hist_saved_copy(table, tp_hist_saved_of(table, entry), &value, words))
		return 0;
	for (uint32_t i = 0; i < WORDS; i++)
		*torn = *torn || words[i] != value;
	return value;
}

FIXTURE(setup, teardown)

TEST(the_largest_is_saved)
{
	bool torn;

	ck_assert_uint_eq(saved(&torn), 0);
	ck_assert(!save(TP_HIST_ONMAX, 0));
	ck_assert(save(TP_HIST_ONMAX, 5));
	ck_assert(!save(TP_HIST_ONMAX, 5));
	ck_assert(!save(TP_HIST_ONMAX, 4));
	ck_assert(save(TP_HIST_ONMAX, UINT64_MAX));
	ck_assert_uint_eq(saved(&torn), UINT64_MAX);
	ck_assert(!torn);
}

TEST(a_change_is_saved)
{
	bool torn;

	ck_assert(save(TP_HIST_ONCHANGE, 5));
	ck_assert(!save(TP_HIST_ONCHANGE, 5));
	ck_assert(save(TP_HIST_ONCHANGE, 4));
	ck_assert_uint_eq(saved(&torn), 4);
	ck_assert(save(TP_HIST_ONCHANGE, 0));
	ck_assert_uint_eq(saved(&torn), 0);
}

/* Each has numbers of its own. */
static void *save_all_the_time(void *data)
{
	const uint64_t first = *(const uint64_t *)data;

	for (uint64_t i = 0; i < ROUNDS; i++)
		save(TP_HIST_ONCHANGE, first + i * WRITERS);
	return NULL;
}

TEST(what_is_saved_is_whole)
{
	uint64_t firsts[WRITERS] = {1, 2};
	pthread_t writers[WRITERS];
	unsigned long nr_torn = 0;
	uint64_t last;
	bool torn;

	for (int i = 0; i < WRITERS; i++)
		pthread_create(&writers[i], NULL, save_all_the_time, &firsts[i]);
	do {
		last = saved(&torn);
		nr_torn += torn;
	} while (last < (ROUNDS - 1) * WRITERS);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(writers[i], NULL);
	ck_assert_uint_eq(nr_torn, 0);
	/* One block is in the entry, and no more were ever in use than threads were saving. */
	ck_assert_uint_le(table->next_block, 1 + WRITERS);
}

/* ---- Variables ---- */

static unsigned long nr_read, nr_torn_texts;
static bool ends;

static void *read_all_the_time(void *unused)
{
	uint64_t value, text[TP_HIST_BLOB_WORDS];

	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
		if (tp_hist_variable_read(table, entry, 0, TP_HIST_KEY_NUMBER, true, &value, NULL))
			__atomic_fetch_add(&nr_read, 1, __ATOMIC_RELAXED);
		if (!tp_hist_variable_read(table, entry, 1, TP_HIST_KEY_TEXT, false, &value, text))
			continue;
		for (uint32_t i = 1; i < TP_HIST_BLOB_WORDS; i++) {
			if (text[i] != text[0]) {
				__atomic_fetch_add(&nr_torn_texts, 1, __ATOMIC_RELAXED);
				break;
			}
		}
	}
	return unused;
}

static void *set_all_the_time(void *data)
{
	uint64_t text[TP_HIST_BLOB_WORDS];

	for (uint64_t i = 0; i < ROUNDS; i++) {
		tp_hist_variable_set(table, entry, 0, i);
		for (uint32_t j = 0; j < TP_HIST_BLOB_WORDS; j++)
			text[j] = *(const uint64_t *)data + i * WRITERS;
		tp_hist_variable_set(table, entry, 1, (uint64_t)(uintptr_t)text);
	}
	return NULL;
}

TEST(variables_are_whole_and_read_once)
{
	uint64_t firsts[WRITERS] = {1, 2};
	pthread_t setters[WRITERS], readers[2];

	nr_read = nr_torn_texts = 0;
	ends = false;
	for (int i = 0; i < 2; i++)
		pthread_create(&readers[i], NULL, read_all_the_time, NULL);
	for (int i = 0; i < WRITERS; i++)
		pthread_create(&setters[i], NULL, set_all_the_time, &firsts[i]);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(setters[i], NULL);
	__atomic_store_n(&ends, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], NULL);
	ck_assert_uint_eq(nr_torn_texts, 0);
	ck_assert_uint_le(nr_read, WRITERS * ROUNDS);
}

TEST(a_variable_has_its_kind)
{
	uint64_t value, text[TP_HIST_BLOB_WORDS] = {1};

	ck_assert(!tp_hist_variable_read(table, entry, 0, TP_HIST_KEY_NUMBER, false, &value, text));
	tp_hist_variable_set(table, entry, 0, 9);
	ck_assert(!tp_hist_variable_read(table, entry, 0, TP_HIST_KEY_TEXT, false, &value, text));
	ck_assert(!tp_hist_variable_read(table, entry, 2, TP_HIST_KEY_NUMBER, false, &value, text));
	ck_assert(tp_hist_variable_read(table, entry, 0, TP_HIST_KEY_NUMBER, false, &value, text));
	ck_assert(tp_hist_variable_read(table, entry, 0, TP_HIST_KEY_NUMBER, true, &value, text));
	ck_assert_uint_eq(value, 9);
	ck_assert(!tp_hist_variable_read(table, entry, 0, TP_HIST_KEY_NUMBER, true, &value, text));
}
