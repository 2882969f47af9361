/* SPDX-License-Identifier: MIT */
/*
 * base/clock.c - the records' clock: the processor's counter where that counts
 * evenly, else CLOCK_MONOTONIC. A reading of the counter takes a fraction of
 * what clock_gettime() does.
 *
 * Nobody says how fast the TSC counts. It is compared with CLOCK_MONOTONIC at
 * two moments: when the process starts, and when a trace is opened or, as
 * that may be too soon after, when it is refined. Between them lies the
 * baseline; the longer, the better.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "base/clock.h"
#include "base/message.h"

#define NS_PER_S 1000000000u

/* A reading is off by some ns: by 10 ppm then, at the worst. */
#define BASELINE_MIN_NS 2000000u

/* Below, times would be coarse; above, one second times NS_PER_S does not fit into 64 bits. */
#define FREQUENCY_MIN 1000000u
#define FREQUENCY_MAX 18000000000u

/* prctl(PR_SET_TSC) was called: then libc's clock_gettime() crashes too, as the vDSO reads the counter. */
static bool reading_is_forbidden;

/* Of the two that a 32-bit processor has, the one for struct timespec as it is here. */
#ifdef SYS_clock_gettime64
#define CLOCK_GETTIME (sizeof(time_t) > sizeof(long) ? SYS_clock_gettime64 : SYS_clock_gettime)
#else
#define CLOCK_GETTIME SYS_clock_gettime
#endif

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	if (__atomic_load_n(&reading_is_forbidden, __ATOMIC_RELAXED))
		syscall(CLOCK_GETTIME, id, &now);
	else
		clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t tp_clock_now(const struct tp_clock *clock)
{
	return clock->counter ? tp_read_counter() : clock_ns(CLOCK_MONOTONIC);
}

/* ---- Arithmetic: exact, and without 128 bits, as seconds go apart from what is less than one ---- */

void tp_clock_anchor(struct tp_clock *clock, uint64_t ticks, uint64_t ns)
{
	const uint64_t frequency = clock->frequency;
	const uint64_t at = (ns % NS_PER_S * frequency + NS_PER_S / 2) / NS_PER_S; /* may be the whole second */
	const uint64_t part = ticks % frequency;

	clock->offset_s = (int64_t)(ns / NS_PER_S) - (int64_t)(ticks / frequency);
	clock->offset = at - part;
	if (at < part) {
		clock->offset += frequency;
		clock->offset_s--;
	} else if (clock->offset >= frequency) {
		clock->offset -= frequency;
		clock->offset_s++;
	}
}

uint64_t tp_clock_to_ns(const struct tp_clock *clock, uint64_t ticks)
{
	const uint64_t frequency = clock->frequency;
	uint64_t seconds = (uint64_t)clock->offset_s + ticks / frequency;
	uint64_t part = clock->offset + ticks % frequency;

	if (part >= frequency) {
		part -= frequency;
		seconds++;
	}
	return seconds * NS_PER_S + part * NS_PER_S / frequency;
}

/* A double's last bit is far below 1 Hz, whatever processor. */
uint64_t tp_clock_frequency(uint64_t ticks, uint64_t ns)
{
	return (uint64_t)((double)ticks * NS_PER_S / (double)ns + 0.5);
}

/* ---- Readings ---- */

/* Best of some: an interrupt or a cache miss makes a reading wide. */
static struct tp_clock_reading read_both(const struct tp_clock *clock, clockid_t id)
{
	struct tp_clock_reading best = {.width = UINT64_MAX};

	for (int i = 0; i < 6; i++) {
		uint64_t before = tp_clock_now(clock);
		uint64_t ns = clock_ns(id);
		uint64_t width = tp_clock_now(clock) - before;
		if (width <= best.width)
			best = (struct tp_clock_reading){.ticks = before + width / 2, .ns = ns, .width = width};
	}
	return best;
}

/*
 * How long the machine has slept since it was booted. CLOCK_MONOTONIC stood
 * still then; the TSC went on, or began anew. The least of some, as the thread
 * may be preempted between the two.
 */
static uint64_t slept_ns(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t monotonic = clock_ns(CLOCK_MONOTONIC);
		uint64_t slept = clock_ns(CLOCK_BOOTTIME) - monotonic;
		if (slept < least)
			least = slept;
	}
	return least;
}

/* One end of the baseline. */
static struct tp_clock_reading read_end(const struct tp_clock *clock)
{
	struct tp_clock_reading end = read_both(clock, CLOCK_MONOTONIC);

	end.slept_ns = slept_ns();
	return end;
}

/* Whether the counter can be compared over the time between them. */
static bool comparable(const struct tp_clock_reading *first, const struct tp_clock_reading *now)
{
	return now->slept_ns - first->slept_ns + 1000000 < 2000000 && /* no more than 1 ms apart */
	       now->ticks > first->ticks && now->ns > first->ns;
}

/* ---- What the processor and the kernel say about the counter ---- */

/* To this thread, to be exact, but new threads inherit it. */
static bool is_forbidden(void)
{
	int mode = 0;
	/* A kernel that does not know the question, as arm64's before 6.12, can't forbid it. */
	bool forbidden = prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode != PR_TSC_ENABLE;

	__atomic_store_n(&reading_is_forbidden, forbidden, __ATOMIC_RELAXED);
	return forbidden;
}

#if defined(__x86_64__)

#define COUNTER_NAME "tsc"
#define COUNTER_DESCRIPTION "TSC, from the epoch, at the rate of CLOCK_MONOTONIC"

/* 0: to be measured. CPUID's leaf 0x15 would be about the crystal, which NTP does not know. */
static uint64_t known_frequency(void)
{
	return 0;
}

static bool is_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
}

#elif defined(__aarch64__)

#define COUNTER_NAME "cntvct"
#define COUNTER_DESCRIPTION "CNTVCT_EL0, from the epoch"

static uint64_t known_frequency(void)
{
	uint64_t frequency;

	__asm__ __volatile__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency & UINT32_MAX; /* the rest is reserved */
}

static bool is_invariant(void)
{
	return known_frequency() != 0; /* as the architecture wants it; 0 is firmware's that has not set it */
}

#else

#define COUNTER_NAME "counter"
#define COUNTER_DESCRIPTION ""

static uint64_t known_frequency(void)
{
	return 0;
}

static bool is_invariant(void)
{
	return false;
}

#endif

/* It takes one of these only where the TSC has failed its tests, as those of several sockets may that differ. */
static bool kernel_has_rejected_it(void)
{
	static const char *const makeshifts[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
	char name[32];
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false; /* a container without /sys */
	ssize_t len = read(fd, name, sizeof(name) - 1);
	close(fd);
	name[len > 0 ? len : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(makeshifts) / sizeof(makeshifts[0]); i++) {
		if (strcmp(name, makeshifts[i]) == 0)
			return true;
	}
	return false;
}

/* NULL where there is nothing against it. */
static const char *why_no_counter(void)
{
	if (is_forbidden()) /* for libc, too */
		return "prctl(PR_SET_TSC) forbids to read it";
	if (!TP_HAS_COUNTER)
		return "there is none that this library reads here";
	if (!is_invariant())
		return "this processor's does not count evenly";
	if (kernel_has_rejected_it())
		return "the kernel has found it unreliable";
	return NULL;
}

/* ---- The clock ---- */

static const struct tp_clock the_counter = {
	.counter = true,
	.name = COUNTER_NAME,
	.description = COUNTER_DESCRIPTION,
};

static const struct tp_clock monotonic = {
	.counter = false,
	.name = "monotonic",
	.description = "CLOCK_MONOTONIC, from the epoch",
	.frequency = NS_PER_S,
};

/* The process's first reading; its ns are 0 where there is none. */
static struct tp_clock_reading process_start;

void tp_clock_start(void)
{
	if (TP_HAS_COUNTER && !is_forbidden() && known_frequency() == 0)
		process_start = read_end(&the_counter);
}

/* Sleeps only where the process has just begun, or the machine has slept meanwhile. */
static void calibrate(struct tp_clock *clock)
{
	struct tp_clock_reading now = read_end(clock);

	clock->first = process_start.ns && comparable(&process_start, &now) ? process_start : now;
	while (now.ns - clock->first.ns < BASELINE_MIN_NS) {
		uint64_t until = clock->first.ns + BASELINE_MIN_NS;
		struct timespec time = {.tv_sec = (time_t)(until / NS_PER_S), .tv_nsec = (long)(until % NS_PER_S)};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		now = read_both(clock, CLOCK_MONOTONIC);
	}
	clock->baseline_ns = now.ns - clock->first.ns;
	clock->width = clock->first.width + now.width;
	clock->frequency = tp_clock_frequency(now.ticks - clock->first.ticks, clock->baseline_ns);
}

/* A mistake is said for the first trace only. */
static bool counter_is_wanted(void)
{
	static bool said;
	const char *value = secure_getenv("TP_CLOCK");
	const bool is_set = value && *value;
	const char *against = why_no_counter(); /* first, as clock_ns() wants to know whether it is forbidden */

	if (is_set && strcmp(value, "monotonic") == 0)
		return false;
	if (is_set && strcmp(value, "tsc") != 0) {
		if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
			tp_complain("TP_CLOCK=%s: unknown clock; use tsc, the processor's counter, or monotonic; it is %s now",
				    value, against ? monotonic.name : the_counter.name);
	} else if (is_set && against) {
		if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
			tp_complain("TP_CLOCK=tsc: the processor's counter can't be used: %s; it is monotonic now",
				    against);
	}
	return !against;
}

void tp_clock_open(struct tp_clock *clock)
{
	*clock = the_counter;
	if (counter_is_wanted()) {
		clock->frequency = known_frequency();
		if (!clock->frequency)
			calibrate(clock);
	}
	/* Not wanted; or an emulator's that hardly moves. */
	if (clock->frequency < FREQUENCY_MIN || clock->frequency > FREQUENCY_MAX)
		*clock = monotonic;
	clock->epoch = read_both(clock, CLOCK_REALTIME);
	tp_clock_anchor(clock, clock->epoch.ticks, clock->epoch.ns);
}

bool tp_clock_refine(struct tp_clock *clock)
{
	if (!clock->baseline_ns || clock_ns(CLOCK_MONOTONIC) - clock->first.ns < 2 * clock->baseline_ns)
		return false;

	const struct tp_clock_reading now = read_end(clock);
	const uint64_t baseline_ns = now.ns - clock->first.ns;
	const uint64_t width = clock->first.width + now.width;
	/* Interrupted each time, it might be worse than the last one. The next try is at the next call. */
	if (!comparable(&clock->first, &now) || width > 2 * clock->width)
		return false;

	/* Nobody slews by more than 1000 ppm: one of the two has jumped, with a virtual machine that was moved. */
	const uint64_t frequency = tp_clock_frequency(now.ticks - clock->first.ticks, baseline_ns);
	const uint64_t change = frequency > clock->frequency ? frequency - clock->frequency :
							      clock->frequency - frequency;
	if (change > clock->frequency / 1000)
		return false;

	clock->baseline_ns = baseline_ns;
	clock->width = width;
	clock->frequency = frequency;
	tp_clock_anchor(clock, clock->epoch.ticks, clock->epoch.ns);
	return change != 0;
}
