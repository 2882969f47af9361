/* SPDX-License-Identifier: MIT */
/*
 * shapes.h - the code around the sites, and what is told of it: HIT(number, id,
 * name) is the subject's.
 */
#ifndef SHAPES_H
#define SHAPES_H

static MAY_BE_UNUSED const char name[16] = "a task's name";

#define HIT_4(number) HIT(number, 1, name); HIT(number, 2, name); HIT(number, 3, name); HIT(number, 4, name)
#define HIT_16(number) HIT_4(number); HIT_4(number); HIT_4(number); HIT_4(number)

/* 32 sites in a row: a loop of one hides what a site costs. */
static void shape_sites(unsigned long events)
{
	for (uint64_t i = 0; i < events / 32; i++) {
		HIT_16(i);
		HIT_16(i);
	}
}

/* Where a site makes the compiler save registers, a function that calls nothing else shows it. core.py reads it. */
uint64_t leaf(uint64_t number, uint32_t id);
NOINLINE uint64_t leaf(uint64_t number, uint32_t id)
{
	HIT(number, id, name);
	return number * 3 + id;
}

static void shape_leaf(unsigned long events)
{
	for (uint64_t i = 0; i < events; i++) {
		uint64_t result = leaf(i, 1);
		__asm__ volatile("" : : "r"(result));
	}
}

static void shape_loop(unsigned long events)
{
	for (uint64_t i = 0; i < events; i++)
		HIT(i, 1, name);
}

/*
 * Some 200 ns of a program's own work: four chains of a hash, which keep the
 * processor waiting for their results, and leave it room for something else.
 */
static uint64_t buffer[64]; /* main() fills it: the compiler is not to know what is in it */

static inline uint64_t work(uint64_t seed)
{
	uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3;
	const uint64_t prime = 0x100000001b3;

	for (int pass = 0; pass < 11; pass++) {
		for (size_t i = 0; i < sizeof(buffer) / sizeof(*buffer); i += 4) {
			a = (a ^ buffer[i]) * prime;
			b = (b ^ buffer[i + 1]) * prime;
			c = (c ^ buffer[i + 2]) * prime;
			d = (d ^ buffer[i + 3]) * prime;
		}
	}
	return a ^ b ^ c ^ d;
}

static void shape_work(unsigned long events)
{
	uint64_t result = 0;

	for (uint64_t i = 0; i < events; i++) {
		result = work(result);
		__asm__ volatile("" : : "r"(result));
		HIT(result, 1, name);
	}
}

/* Each event by itself, with a reading of the clock. */
static uint32_t *each; /* nanoseconds */
static size_t each_count;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void shape_each(unsigned long events)
{
	for (uint64_t i = 0; i < events; i++) {
		uint64_t begin = now();

		HIT(i, 1, name);
		each[each_count++] = (uint32_t)(now() - begin);
	}
}

static int compare_each(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double longest(void)
{
	qsort(each, each_count, sizeof(*each), compare_each);
	return each[each_count - 1];
}

/* All but one in 10,000 take no longer. */
static double percentile(void)
{
	qsort(each, each_count, sizeof(*each), compare_each);
	return each[each_count - 1 - each_count / 10000];
}

/* How many took how long, four steps to each doubling: latency.py draws it. */
static double histogram(void)
{
	size_t begin = 0;

	qsort(each, each_count, sizeof(*each), compare_each);
	for (size_t i = 0; i < each_count; i++) {
		const int shift = each[i] < 8 ? 0 : 29 - __builtin_clz(each[i]);
		if (i + 1 < each_count && each[i + 1] >> shift == each[i] >> shift)
			continue;
		printf("%u %zu\n", each[i] >> shift << shift, i + 1 - begin);
		begin = i + 1;
	}
	return (double)each_count;
}

/* The first event alone, and that of all the process. */
static double first_took;

static void shape_first(unsigned long events)
{
	uint64_t begin = now();

	if (first_took > 0)
		return;
	HIT(events, 1, name);
	(void)events;
	first_took = (double)(now() - begin);
}

static double first(void)
{
	return first_took;
}

/* Waits until its input ends, so that record.py can look at the process. */
static void shape_stay(unsigned long events)
{
	HIT(events, 1, name);
	(void)events;
	puts("here");
	fflush(stdout);
	while (getchar() != EOF)
		;
}

static const struct {
	const char *name;
	void (*run)(unsigned long events);
	double (*result)(void); /* of one thread, where it is not the time of an event */
	bool is_scale;          /* scale.h runs it */
} shapes[] = {
	{"sites", shape_sites, NULL, false},
	{"leaf", shape_leaf, NULL, false},
	{"loop", shape_loop, NULL, false},
	{"scale", shape_loop, NULL, true},
	{"work", shape_work, NULL, false},
	{"longest", shape_each, longest, false},
	{"percentile", shape_each, percentile, false},
	{"histogram", shape_each, histogram, false},
	{"first", shape_first, first, false},
	{"stay", shape_stay, NULL, false},
};

#endif /* SHAPES_H */
