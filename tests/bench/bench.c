/* SPDX-License-Identifier: MIT */
/*
 * bench.c - what it costs a program to hit a site.
 *
 *	bench EVENTS SHAPE THREADS [ARGUMENT [WARM]]
 *
 * prints the nanoseconds an event takes in each of the THREADS, each of which
 * hits the site WARM times before; or, of the shape "scale", how much more two
 * threads do at once than one alone, or two processes of 1 thread. It is compiled once for each way to trace:
 * SUBJECT is the header that says what HIT(number, id, name) is, and may say
 * what PREPARE(argument) is, and UNDO(), which follows each slice and is not timed.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* gcc also keeps other functions from knowing what is in such a one, such as the registers that it leaves alone. */
#if defined(__has_attribute)
#if __has_attribute(noipa)
#define NOINLINE __attribute__((noipa))
#endif
#endif
#ifndef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif
#define MAY_BE_UNUSED __attribute__((unused))

/* What an enabled site calls. The assembler's operands keep the compiler from leaving out the arguments. */
static NOINLINE MAY_BE_UNUSED void empty_probe(void *data, uint64_t number, uint32_t id, const char *name)
{
	__asm__ volatile("" : : "r"(data), "r"(number), "r"(id), "r"(name));
}

static MAY_BE_UNUSED void fail(const char *why)
{
	fprintf(stderr, "bench: %s\n", why);
	exit(1);
}

/* The calling thread stays on the index'th of our processors: two that share one do not run at once. */
static void pin(int index)
{
	cpu_set_t ours, one;

	if (sched_getaffinity(0, sizeof(ours), &ours) != 0)
		fail("our processors are not known");
	index %= CPU_COUNT(&ours);
	CPU_ZERO(&one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &ours) && index-- == 0)
			CPU_SET(cpu, &one);
	}
	sched_setaffinity(0, sizeof(one), &one);
}

/* runner.py says what SITES(x) is: TEN(TEN(TEN(x))), or less for a quick run. */
#define TEN(x) x; x; x; x; x; x; x; x; x; x

#include SUBJECT
#include "shapes.h"

/* core.py compares the sections of an object that has this with those of one that has not. */
#ifdef MANY_SITES
void many_sites(uint64_t number);
void many_sites(uint64_t number)
{
	SITES(HIT(number, 1, name));
}
#endif

/* ---- Measuring ---- */

/*
 * Of one thread the median of slices counts, which other programs disturb
 * little: each is shorter than a time slice of the scheduler's. It hides what
 * happens in fewer than half of them. Of several threads the mean counts:
 * while one waits for a lock, the other's slices are as fast as if it were alone.
 */
enum { SLICES = 15, MAX_THREADS = 64 };

#ifndef UNDO
#define UNDO() ((void)0)
#endif

static void (*shape)(unsigned long events);
static double (*shape_result)(void);
static unsigned long events; /* of a slice */
static unsigned long warm;
static int threads;
static pthread_barrier_t ready;

struct thread {
	pthread_t id;
	int index;
	double result; /* nanoseconds of a slice */
};

/* Nanoseconds of a slice. runner.py has callgrind count what happens in here, by its name. */
double timed(void);
NOINLINE double timed(void)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	shape(events);
	clock_gettime(CLOCK_MONOTONIC, &end);
	return (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#include "scale.h"

static void *run(void *argument)
{
	struct thread *thread = argument;
	double elapsed[SLICES], sum = 0;

	if (threads > 1)
		pin(thread->index);
	shape_loop(warm);
	shape(events); /* the first ones resolve symbols and open streams */
	UNDO();
	each_count = 0;
	pthread_barrier_wait(&ready);
	for (int i = 0; i < SLICES; i++) {
		elapsed[i] = timed();
		UNDO();
		sum += elapsed[i];
	}
	qsort(elapsed, SLICES, sizeof(*elapsed), compare);
	thread->result = threads > 1 ? sum / SLICES : elapsed[SLICES / 2];
	return NULL;
}

int main(int argc, char **argv)
{
	struct thread all[MAX_THREADS];
	bool is_scale = false;
	double sum = 0;

	if (argc < 4)
		fail("usage: bench EVENTS SHAPE THREADS [ARGUMENT [WARM]]");
	events = strtoul(argv[1], NULL, 10) / SLICES;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (strcmp(argv[2], shapes[i].name) == 0) {
			shape = shapes[i].run;
			shape_result = shapes[i].result;
			is_scale = shapes[i].is_scale;
		}
	}
	threads = atoi(argv[3]);
	if (!events || !shape || threads < 1 || threads > (shape_result ? 1 : MAX_THREADS))
		fail("wrong arguments");
	warm = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	for (size_t i = 0; i < sizeof(buffer) / sizeof(*buffer); i++)
		buffer[i] = events * i;
	if (shape == shape_each) {
		each = malloc(events * SLICES * sizeof(*each));
		if (!each)
			fail("there is no memory");
		memset(each, 0xff, events * SLICES * sizeof(*each)); /* so that no page of it is a new one */
	}
#ifdef PREPARE
	PREPARE(argc > 4 ? atoi(argv[4]) : 0);
#endif
	if (is_scale) {
		printf("%.4f\n", measure_scale(threads == 1));
		return 0;
	}
	pthread_barrier_init(&ready, NULL, (unsigned int)threads);
	/* The first runs here: with one thread, the process is a single-threaded one, where stdio takes no locks. */
	for (int i = threads - 1; i > 0; i--) {
		all[i].index = i;
		if (pthread_create(&all[i].id, NULL, run, &all[i]) != 0)
			fail("no thread can be made");
	}
	all[0].index = 0;
	run(&all[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(all[i].id, NULL);
	for (int i = 0; i < threads; i++)
		sum += all[i].result;
	printf("%.4f\n", shape_result ? shape_result() : sum / threads / (double)events);
	return 0;
}
