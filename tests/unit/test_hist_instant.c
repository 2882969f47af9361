/* SPDX-License-Identifier: MIT */
/*
 * test_hist_instant.c - signal handlers hit a histogram after each instruction of a hit of it: with the same key, which one
 * of the two puts into the table, and with another key, for which the search begins at the same slot. By the processor's
 * trap flag, so on x86-64 only.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "sinks/hist/hist.h"
#include "sample.h"
#include "util.h"

static struct tp_sink *open_hist(const char *text)
{
	struct tp_filter_error error;
	struct tp_hist_definition *definition = tp_hist_definition_new(text, &error);

	ck_assert_ptr_nonnull(definition);
	struct tp_sink *hist = tp_hist_sink(definition, NULL, &error);
	ck_assert_ptr_nonnull(hist);
	ck_assert_int_eq(tp_enable(hist, "sample:sample_int"), 1);
	return hist;
}

static char *text_of(struct tp_sink *hist)
{
	struct tp_buffer text = {.text = NULL};

	ck_assert_int_eq(tp_hist_report(hist, false, &text), 0);
	return text.text;
}

/* Without a handler, on all processors. */
TEST(two_keys)
{
	struct tp_sink *hist = open_hist("keys=value");

	for (int i = 0; i < 5; i++)
		trace_sample_int(i == 3);
	char *text = text_of(hist);
	ck_assert_ptr_nonnull(strstr(text, "Hits: 5\n    Entries: 2\n    Dropped: 0\n"));
	free(text);
	tp_sink_close(hist);
}

#if defined(__x86_64__)

#include "traps.h"

#define NR_KEYS 128 /* for which the table has entries */
#define OTHER 211   /* its hash begins at the slot of 0 */

static unsigned long at; /* the step after which the handler hits */
static bool other_first;

static void hit_at_step(int signal)
{
	(void)signal;
	if (++steps != at)
		return;
	trace_sample_int(other_first ? OTHER : 0);
	trace_sample_int(other_first ? 0 : OTHER);
	trace_sample_int(0);
}

static unsigned long hit(unsigned long step)
{
	at = step;
	steps = 0;
	traps_on();
	trace_sample_int(0);
	traps_off();
	return steps;
}

/* An entry of the key, with so many hits, and the sum of a value that is the same in each. */
static bool has(const char *text, int key, int hits)
{
	char entry[100];

	snprintf(entry, sizeof(entry), "{ value: %10d } hitcount: %10d  common_type: %10d\n", key, hits, hits * tp_event_sample_int.id);
	return count_of(text, entry) == 1;
}

/* An entry that was taken and not used must be free again: so each of all keys finds one. */
static void check(struct tp_sink *hist, unsigned long step)
{
	char entry[100], *text;

	for (int i = 1; i < NR_KEYS - 1; i++)
		trace_sample_int(i);
	text = text_of(hist);
	snprintf(entry, sizeof(entry), "Hits: %d\n    Entries: %d\n    Dropped: 0\n", NR_KEYS + 2, NR_KEYS);
	ck_assert_msg(strstr(text, entry) != NULL, "a handler after instruction %lu: %s", step, strstr(text, "Totals"));
	ck_assert_msg(has(text, 0, 3) && has(text, OTHER, 1), "a handler after instruction %lu", step);
	free(text);
}

LOOP_TEST(handlers_after_each_instruction, 2)
{
	struct tp_sink *hist = open_hist("keys=value:vals=common_type:size=128");
	const unsigned long stride = under_sanitizer() ? few_or_many(41, 13) : few_or_many(7, 1);
	unsigned long step = 1;

	other_first = _i == 1;
	trace_sample_int(1); /* the thread's first hit takes memory */
	signal(SIGTRAP, hit_at_step);
	ck_assert_int_eq(tp_hist_clear(hist), 0);
	while (hit(step) >= step) {
		check(hist, step);
		ck_assert_int_eq(tp_hist_clear(hist), 0);
		step += stride;
	}
	ck_assert_uint_gt(step, 300);
	signal(SIGTRAP, SIG_DFL);
	tp_sink_close(hist);
}

#endif
