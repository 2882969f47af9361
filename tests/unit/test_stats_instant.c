/* SPDX-License-Identifier: MIT */
/*
 * test_stats_instant.c - signal handlers hit an event after each instruction of a hit of it: nothing that statistics count is
 * lost, or counted twice. By the processor's trap flag, so on x86-64 only.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <tp/tp.h>

#include "sample.h"
#include "sinks/stats/stats.h"
#include "util.h"

static struct tp_sink *open_stats(const char *options)
{
	struct tp_sink *sink = tp_stats_sink_without_file("counts", options);

	ck_assert_ptr_nonnull(sink);
	ck_assert_int_eq(tp_enable(sink, "sample:sample_kinds"), 1);
	return sink;
}

static void hit_once(int8_t n)
{
	static const uint32_t none;
	static const struct sample_point nowhere;
	const struct sample_values v = {
		.s8 = n, .wide = n * 0.25, .level = n, .text = n < 0 ? "handler" : "thread", .last = "",
		.bytes = (const uint8_t *)"", .words = &none, .points = &nowhere,
	};

	trace_sample_kinds(&v);
}

static char *report_of(struct tp_sink *sink)
{
	struct tp_buffer text = {.text = NULL};

	ck_assert_int_eq(tp_stats_report(sink, true, &text), 0);
	return text.text;
}

static long long number_in(const char *text, const char *that, const char *key)
{
	char quoted[64];
	const char *at = strstr(text, that);

	snprintf(quoted, sizeof(quoted), "\"%s\": ", key);
	at = at ? strstr(at, quoted) : NULL;
	return at ? strtoll(at + strlen(quoted), NULL, 10) : -1;
}

#define FIELDS "field=*.s8+*.wide+*.level+*.string"

/* The thread has hit 4 so often, and the handler -8. */
static void check(struct tp_sink *sink, long long own, long long handlers, unsigned long step)
{
	char *text = report_of(sink), *wide;
	char top[200];

	ck_assert_msg(number_in(text, "sample_kinds", "hits") == own + handlers, "after instruction %lu: %s", step, text);
	ck_assert_int_eq(number_in(text, "", "lost"), 0);
	ck_assert_int_eq(number_in(text, "\"s8\"", "count"), own + handlers);
	ck_assert_int_eq(number_in(text, "\"s8\"", "sum"), 4 * own - 8 * handlers);
	ck_assert_int_eq(number_in(text, "\"s8\"", "min"), handlers ? -8 : 4);
	ck_assert_int_eq(number_in(text, "\"s8\"", "max"), 4);
	wide = strstr(text, "\"wide\"");
	ck_assert_int_eq(number_in(wide, "", "count"), own + handlers);
	ck_assert_int_eq(number_in(wide, "", "sum"), own - 2 * handlers);
	snprintf(top, sizeof(top), "{\"value\": 4, \"count\": %lld}", own);
	ck_assert_msg(strstr(text, top) != NULL, "after instruction %lu: %s", step, text);
	snprintf(top, sizeof(top), "{\"value\": \"thread\", \"length\": 6, \"count\": %lld}", own);
	ck_assert_msg(strstr(text, top) != NULL, "after instruction %lu: %s", step, text);
	free(text);
}

/* Without a handler, on all processors. */
TEST(some_hits)
{
	struct tp_sink *sink = open_stats(FIELDS);

	for (int i = 0; i < 5; i++)
		hit_once(i == 3 ? -8 : 4);
	check(sink, 4, 1, 0);
	tp_sink_close(sink);
}

#if defined(__x86_64__)

#include "traps.h"

static unsigned long at; /* the step after which the handler hits */

static void hit_at_step(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	if (++steps != at)
		return;
	hit_once(-8);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100; /* no more traps */
}

static void catch_traps(void)
{
	const struct sigaction action = {.sa_sigaction = hit_at_step, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
}

static unsigned long hit(unsigned long step)
{
	at = step;
	steps = 0;
	traps_on();
	hit_once(4);
	traps_off();
	return steps;
}

static unsigned long stride(void)
{
	return under_sanitizer() ? few_or_many(101, 23) : few_or_many(17, 3);
}

/* Between hits of one thread, whether in its handlers or not, is an interval. */
LOOP_TEST(handlers_after_each_instruction, 2)
{
	struct tp_sink *sink = open_stats(_i ? FIELDS ",by=thread" : FIELDS);
	unsigned long step = 1;
	long long rounds = 1;

	hit_once(4); /* the thread's first hit takes memory */
	hit_once(-8);
	catch_traps();
	while (hit(step) >= step) {
		rounds++;
		check(sink, rounds, rounds, step);
		char *text = report_of(sink);
		const char *event = strstr(text, "sample_kinds");
		const long long min = number_in(event, "", "interval_min_ns");
		ck_assert_msg(number_in(event, "", "intervals") == 2 * rounds - 1, "after instruction %lu: %s", step, text);
		ck_assert_msg(min >= 0 && min <= number_in(event, "", "interval_max_ns"), "after instruction %lu: %s", step, text);
		free(text);
		step += stride();
	}
	ck_assert_uint_gt(step, 300);
	signal(SIGTRAP, SIG_DFL);
	tp_sink_close(sink);
}

TEST(handlers_in_a_first_hit)
{
	unsigned long step = 1, done;

	catch_traps();
	do {
		struct tp_sink *sink = open_stats(FIELDS);
		done = hit(step);
		check(sink, 1, done >= step, step);
		hit_once(4);
		check(sink, 2, done >= step, step);
		tp_sink_close(sink);
	} while (done >= step && (step += stride() * 9 + 2));
	ck_assert_uint_gt(step, 300);
	signal(SIGTRAP, SIG_DFL);
}

#endif
