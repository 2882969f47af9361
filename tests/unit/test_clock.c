/* SPDX-License-Identifier: MIT */
/*
 * test_clock.c - the records' clock: which one is taken, how well it is
 * calibrated, and its arithmetic.
 *
 * Tests of the counter are skipped where there is none; under load their
 * bounds still hold, as whoever reads two clocks takes the best of some tries.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "util.h"

#define S 1000000000u
#define MS 1000000u

static uint64_t now_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * S + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / S), .tv_nsec = (long)(ns % S)};

	nanosleep(&time, NULL);
}

static void choose(const char *name)
{
	ck_assert_int_eq(name ? setenv("TP_CLOCK", name, 1) : unsetenv("TP_CLOCK"), 0);
}

/* What is tested without a word about the environment. */
static void setup(void)
{
	choose(NULL);
	tp_clock_start();
}

/* False, and said, where the clock is not one that is calibrated. */
static bool open_calibrated(struct tp_clock *clock, const char *test)
{
	tp_clock_open(clock);
	if (clock->counter && clock->baseline_ns)
		return true;
	fprintf(stderr, "%s has nothing to test: %s\n", test,
		clock->counter ? "the counter's frequency is known here" : "there is no counter that can be used here");
	return false;
}

/* ---- Which one ---- */

/* Whether it is opened as that, without a word. */
static bool opens_as(const char *tp_clock, bool counter)
{
	struct tp_clock clock;

	choose(tp_clock);
	capture_stderr();
	tp_clock_open(&clock);
	char *text = captured_stderr();
	ck_assert_str_eq(text, "");
	free(text);
	if (!clock.counter) {
		ck_assert_str_eq(clock.name, "monotonic");
		ck_assert_uint_eq(clock.frequency, S);
	}
	return clock.counter == counter;
}

FIXTURE(setup, NULL)

TEST(counter_is_the_default)
{
	struct tp_clock clock;

	tp_clock_open(&clock);
	if (!clock.counter) {
		fprintf(stderr, "counter_is_the_default has nothing to test: there is no counter that can be used here\n");
		return;
	}
	ck_assert_int_eq(TP_HAS_COUNTER, 1);
#ifdef __x86_64__
	ck_assert_str_eq(clock.name, "tsc");
#else
	ck_assert_str_eq(clock.name, "cntvct");
#endif
	ck_assert(opens_as(NULL, true));
	ck_assert(opens_as("", true));
	ck_assert(opens_as("tsc", true));
}

TEST(monotonic_is_forced)
{
	ck_assert(opens_as("monotonic", false));
}

TEST(unknown_clock_is_said_once)
{
	struct tp_clock standard, clock;
	char expected[200];

	tp_clock_open(&standard);
	choose("Monotonic");
	capture_stderr();
	tp_clock_open(&clock);
	tp_clock_open(&clock);
	char *text = captured_stderr();
	snprintf(expected, sizeof(expected), "tp: TP_CLOCK=Monotonic: unknown clock; use tsc, the processor's counter, "
		 "or monotonic; it is %s now\n", standard.name);
	ck_assert_str_eq(text, expected);
	ck_assert_str_eq(clock.name, standard.name);
	free(text);
}

/* 0 where the clock is monotonic and right; in a child, as check itself needs the time. */
static int without_counter(void)
{
	struct tp_clock clock;
	uint64_t before = now_ns(CLOCK_REALTIME);

	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
		return 77;
	tp_clock_start();
	tp_clock_open(&clock);
	uint64_t at = tp_clock_to_ns(&clock, tp_clock_now(&clock));
	if (clock.counter || clock.frequency != S || tp_clock_refine(&clock))
		return 1;
	return at >= before && at < before + 60ull * S ? 0 : 2;
}

static int run_without_counter(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(without_counter());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

TEST(forbidden_counter)
{
	capture_stderr();
	int result = run_without_counter();
	char *text = captured_stderr();
	if (result == 77) {
		fprintf(stderr, "forbidden_counter has nothing to test: this kernel can't forbid it\n");
		free(text);
		return;
	}
	ck_assert_int_eq(result, 0);
	ck_assert_str_eq(text, "");
	free(text);
	/* Who asks for it is told. */
	choose("tsc");
	capture_stderr();
	result = run_without_counter();
	text = captured_stderr();
	ck_assert_int_eq(result, 0);
	ck_assert_str_eq(text, "tp: TP_CLOCK=tsc: the processor's counter can't be used: prctl(PR_SET_TSC) forbids to "
			       "read it; it is monotonic now\n");
	free(text);
	choose("monotonic");
	ck_assert_int_eq(run_without_counter(), 0);
}

/* ---- What time it is ---- */

static struct tp_clock shared;

/* The reading is not fenced; what whoever records makes up for is less than a microsecond. */
static void *look_for_steps_back(void *unused)
{
	uint64_t last = tp_clock_to_ns(&shared, tp_clock_now(&shared));

	for (int i = 0; i < 300000; i++) {
		uint64_t now = tp_clock_to_ns(&shared, tp_clock_now(&shared));
		if (now + 1000 < last)
			return &shared;
		last = now;
	}
	return unused;
}

static const char *const clocks[] = {"tsc", "monotonic"};

LOOP_TEST(never_goes_back, 2)
{
	pthread_t threads[4];
	void *result;

	choose(clocks[_i]);
	tp_clock_open(&shared);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, look_for_steps_back, NULL), 0);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &result), 0);
		ck_assert_ptr_null(result);
	}
}

/* 50 ms: the frequency's 10 ppm are nothing beside what somebody who sets the clock may do. */
LOOP_TEST(shows_the_time, 2)
{
	struct tp_clock clock;

	choose(clocks[_i]);
	tp_clock_open(&clock);
	ck_assert_uint_lt(clock.offset, clock.frequency);
	for (int i = 0; i < 20; i++) {
		uint64_t before = now_ns(CLOCK_REALTIME);
		uint64_t at = tp_clock_to_ns(&clock, tp_clock_now(&clock));
		uint64_t after = now_ns(CLOCK_REALTIME);
		ck_assert_uint_ge(at, before - 50 * MS);
		ck_assert_uint_le(at, after + 50 * MS);
		sleep_ns(2 * MS);
	}
}

TEST(goes_on_in_a_child)
{
	struct tp_clock clock;
	int status;

	tp_clock_open(&clock);
	uint64_t before = tp_clock_to_ns(&clock, tp_clock_now(&clock));
	pid_t child = fork();
	if (child == 0) {
		uint64_t at = tp_clock_to_ns(&clock, tp_clock_now(&clock));
		_exit(at >= before && at < before + 60ull * S ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

/* ---- How fast it counts ---- */

static void ck_assert_ppm(uint64_t frequency, uint64_t expected, double ppm)
{
	double off = ((double)frequency - (double)expected) / (double)expected * 1e6;

	ck_assert_msg(off < ppm && off > -ppm, "%" PRIu64 " Hz for %" PRIu64 " Hz: off by %f ppm", frequency, expected, off);
}

static unsigned int waits;

/* By which the clock waits. */
int clock_nanosleep(clockid_t id, int flags, const struct timespec *time, struct timespec *left)
{
	const uint64_t until = (uint64_t)time->tv_sec * S + (uint64_t)time->tv_nsec;

	ck_assert(flags == TIMER_ABSTIME && !left);
	waits++;
	while (now_ns(id) < until)
		sleep_ns(MS / 10);
	return 0;
}

TEST(waits_for_a_baseline)
{
	struct tp_clock clock;

	if (!open_calibrated(&clock, "waits_for_a_baseline"))
		return;
	ck_assert_uint_ge(clock.baseline_ns, 2 * MS);
	sleep_ns(20 * MS);
	waits = 0;
	tp_clock_open(&clock); /* from the process's start on, so without a wait */
	ck_assert_uint_ge(clock.baseline_ns, 20 * MS);
	ck_assert_uint_lt(clock.baseline_ns, now_ns(CLOCK_MONOTONIC));
	ck_assert_uint_eq(waits, 0);
}

FIXTURE(NULL, NULL)

/* Where tp_process_start() was not called, and what is tested is its absence. */
TEST(needs_no_start)
{
	struct tp_clock clock;

	if (open_calibrated(&clock, "needs_no_start"))
		ck_assert_uint_ge(clock.baseline_ns, 2 * MS);
}

/* Tries until it says yes: under load one try may be no better than what is known. */
static bool refines_within(struct tp_clock *clock, uint64_t ns)
{
	for (uint64_t end = now_ns(CLOCK_MONOTONIC) + ns; now_ns(CLOCK_MONOTONIC) < end; sleep_ns(MS)) {
		if (tp_clock_refine(clock))
			return true;
	}
	return false;
}

FIXTURE(setup, NULL)

TEST(refines)
{
	struct tp_clock clock, exact;

	if (!open_calibrated(&clock, "refines"))
		return;
	const uint64_t baseline = clock.baseline_ns;
	clock.frequency += clock.frequency / 5000; /* 200 ppm */
	const uint64_t wrong = clock.frequency;
	tp_clock_anchor(&clock, clock.epoch.ticks, clock.epoch.ns);
	ck_assert(refines_within(&clock, 600ull * S));
	ck_assert_uint_ge(clock.baseline_ns, 2 * baseline);
	ck_assert_uint_ne(clock.frequency, wrong);
	sleep_ns(100 * MS);
	tp_clock_open(&exact);
	ck_assert_ppm(clock.frequency, exact.frequency, 50);
	/* The anchor stays where it was. */
	uint64_t at = tp_clock_to_ns(&clock, clock.epoch.ticks);
	ck_assert_uint_ge(at + 1, clock.epoch.ns);
	ck_assert_uint_le(at, clock.epoch.ns + 1);
	ck_assert_uint_lt(clock.offset, clock.frequency);
}

/* Whether it leaves the clock as it is. */
static bool refuses(struct tp_clock *clock)
{
	const struct tp_clock before = *clock;

	return !tp_clock_refine(clock) && clock->frequency == before.frequency &&
	       clock->baseline_ns == before.baseline_ns && clock->width == before.width &&
	       clock->offset_s == before.offset_s && clock->offset == before.offset;
}

TEST(refines_only_what_has_doubled)
{
	struct tp_clock clock;

	if (!open_calibrated(&clock, "refines_only_what_has_doubled"))
		return;
	clock.baseline_ns = now_ns(CLOCK_MONOTONIC); /* more than there will be for as long as it runs already */
	ck_assert(refuses(&clock));
}

/* As if it had been exact from early on; then some ns more or less don't make a Hz. */
TEST(the_same_frequency_is_no_change)
{
	struct tp_clock clock;
	uint64_t seconds, baseline, measured;
	bool changed;

	do { /* over a time that is longer than the baseline, more counts than some ns */
		if (!open_calibrated(&clock, "the_same_frequency_is_no_change"))
			return;
		const uint64_t counter_up = clock.first.ticks / clock.frequency, up = clock.first.ns / S;
		seconds = counter_up < up ? counter_up : up;
		if (seconds < 60) {
			fprintf(stderr, "the_same_frequency_is_no_change has nothing to test: this machine is up for less than a minute\n");
			return;
		}
		baseline = clock.baseline_ns;
		measured = clock.first.ns + baseline;
		clock.first.ticks -= seconds * clock.frequency;
		clock.first.ns -= seconds * S;
		clock.baseline_ns = seconds * S / 2;
		changed = tp_clock_refine(&clock);
	} while (now_ns(CLOCK_MONOTONIC) - measured > baseline);
	ck_assert(!changed);
	ck_assert_uint_ge(clock.baseline_ns, seconds * S); /* it was measured */
}

TEST(what_has_jumped_is_not_compared)
{
	struct tp_clock clock, other;

	if (!open_calibrated(&clock, "what_has_jumped_is_not_compared"))
		return;
	sleep_ns(3 * clock.baseline_ns);
	other = clock;
	other.first.slept_ns -= 3600ull * S; /* the machine has slept since, for an hour */
	ck_assert(refuses(&other));
	other = clock;
	other.first.ticks = UINT64_MAX; /* it began anew */
	ck_assert(refuses(&other));
	other = clock;
	other.first.ticks -= other.frequency; /* it went on by a second, in no time */
	ck_assert(refuses(&other));
	other = clock;
	other.width = 0; /* what is known can't be bettered */
	ck_assert(refuses(&other));
}

TEST(monotonic_needs_no_refinement)
{
	struct tp_clock clock;

	choose("monotonic");
	tp_clock_open(&clock);
	sleep_ns(5 * MS);
	ck_assert(refuses(&clock));
}

/* ---- Arithmetic, beside that of 128 bits ---- */

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 wide;

static const uint64_t times[] = {0, 1, 999999999, 1000000000, 1795298890123456789, 3155760000u * 1000000000ull,
				 INT64_MAX, UINT64_MAX};
#endif

static const uint64_t frequencies[] = {1, 2, 3, 999, 19200000, 24000000, 62500000, 999999999, 1000000000, 1000000001,
				       2596096018, 4999999999, 10000000000, 18000000000};
#ifdef __SIZEOF_INT128__
/* Ticks of times that are a century and more. */
static uint64_t some_ticks(unsigned int i, uint64_t frequency)
{
	const uint64_t ticks[] = {0, 1, frequency - 1, frequency, frequency + 1, 30 * 86400 * frequency + 12345,
				  3155760000u, INT64_MAX, UINT64_MAX - 1, UINT64_MAX};

	return ticks[i];
}

static wide floor_div(wide a, wide b)
{
	wide quotient = a / b;

	return quotient * b > a ? quotient - 1 : quotient;
}
#endif

FIXTURE(NULL, NULL)

#ifdef __SIZEOF_INT128__

LOOP_TEST(anchors, NR_OF(frequencies))
{
	struct tp_clock clock = {.frequency = frequencies[_i]};
	const wide frequency = (wide)clock.frequency;

	for (size_t t = 0; t < NR_OF(times); t++) {
		for (unsigned int i = 0; i < 10; i++) {
			const uint64_t ticks = some_ticks(i, clock.frequency);
			tp_clock_anchor(&clock, ticks, times[t]);
			ck_assert_uint_lt(clock.offset, clock.frequency);
			/* Tick 0, in ticks from the epoch. */
			wide zero = ((wide)times[t] * frequency + S / 2) / S - (wide)ticks;
			ck_assert_int_eq(clock.offset_s, (int64_t)floor_div(zero, frequency));
			ck_assert_uint_eq(clock.offset, (uint64_t)(zero - floor_div(zero, frequency) * frequency));
		}
	}
}

LOOP_TEST(converts, NR_OF(frequencies))
{
	struct tp_clock clock = {.frequency = frequencies[_i]};
	static const int64_t seconds[] = {-5000000000, -1, 0, 1, 1795298890, 9000000000};
	const uint64_t offsets[] = {0, 1, clock.frequency / 2, clock.frequency - 1};

	for (size_t s = 0; s < NR_OF(seconds); s++) {
		for (size_t o = 0; o < NR_OF(offsets); o++) {
			clock.offset_s = seconds[s];
			clock.offset = offsets[o] % clock.frequency;
			for (unsigned int i = 0; i < 10; i++) {
				const uint64_t ticks = some_ticks(i, clock.frequency);
				wide ns = (wide)clock.offset_s * S +
					  ((wide)clock.offset + ticks) * S / (wide)clock.frequency;
				ck_assert_uint_eq(tp_clock_to_ns(&clock, ticks), (uint64_t)ns);
			}
		}
	}
}

#endif

/* Back to the anchor, but for the ticks' length; a machine that is up for a century, from 1970 on or not. */
LOOP_TEST(anchors_and_converts, NR_OF(frequencies))
{
	struct tp_clock clock = {.frequency = frequencies[_i]};
	const uint64_t tick = S / clock.frequency + 1;

	for (uint64_t years = 0; years <= 100; years += 10) {
		const uint64_t up = years * 31557600 * clock.frequency;
		const uint64_t ns = 1795298890123456789 + years * 31557600 * S;
		if (years && up / clock.frequency != years * 31557600)
			break; /* the counter would have begun anew */
		tp_clock_anchor(&clock, up, ns);
		uint64_t at = tp_clock_to_ns(&clock, up);
		ck_assert_msg(at + tick >= ns && at <= ns + tick, "%" PRIu64 " for %" PRIu64, at, ns);
	}
}

LOOP_TEST(measures, NR_OF(frequencies))
{
	static const uint64_t ns[] = {2 * MS, 100 * MS, 1ull * S, 3600ull * S, 31557600ull * S};

	for (size_t i = 0; i < NR_OF(ns); i++) {
		uint64_t ticks;
		if (__builtin_mul_overflow(frequencies[_i], ns[i] / MS, &ticks))
			continue;
		ticks /= S / MS;
		uint64_t found = tp_clock_frequency(ticks, ns[i]);
		uint64_t error = S / ns[i] + 1; /* what a tick is worth */
		ck_assert_msg(found <= frequencies[_i] + error && found + error >= frequencies[_i],
			      "%" PRIu64 " Hz, found %" PRIu64, frequencies[_i], found);
	}
	ck_assert_uint_eq(tp_clock_frequency(2, 3), 666666667); /* rounded */
	ck_assert_uint_eq(tp_clock_frequency(1, 3), 333333333);
}
