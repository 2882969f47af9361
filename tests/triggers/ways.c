/* SPDX-License-Identifier: MIT */
/*
 * ways.c - each event is hit in one place, in all ways in which its probes are called: as a thread's first hit and later,
 * with the trigger's probes alone, beside an output's, and beside the program's. 2 threads with 2 hits each time.
 */
#define CREATE_TRACE_POINTS
#include "ways.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <tp/marker.h>
#include <tp/tp.h>

#define KEPT __attribute__((noinline, visibility("default")))

KEPT void place_one(void);
KEPT void place_two(void);
KEPT void place_real(void);
KEPT void place_marker(void);

void place_one(void)
{
	trace_way_one(1);
	__asm__ volatile("");
}

void place_two(void)
{
	trace_way_two(2);
	__asm__ volatile("");
}

void place_real(void)
{
	trace_way_real(3, 1.5);
	__asm__ volatile("");
}

void place_marker(void)
{
	trace_mark(way_marker, "n %d", 4);
	__asm__ volatile("");
}

static void *hit_twice(void *place)
{
	void (*const function)(void) = *(void (**)(void))place;

	for (volatile int i = 0; i < 2; i++) /* is not unrolled: there is one call */
		function();
	return NULL;
}

static void hit_by_threads(void)
{
	static void (*places[])(void) = {place_one, place_two, place_real, place_marker};
	pthread_t thread;

	/* One after the other: the first hit of a thread is another way to each place. */
	for (unsigned int i = 0; i < 2 * sizeof(places) / sizeof(places[0]); i++) {
		if (pthread_create(&thread, NULL, hit_twice, &places[i / 2]) != 0)
			exit(2);
		pthread_join(thread, NULL);
	}
}

static void probe_one(void *data, int n)
{
	*(int *)data += n;
}

static void probe_two(void *data, way_number n)
{
	*(int *)data += n;
}

int main(void)
{
	static int sum;

	hit_by_threads();
	struct tp_sink *text = tp_text_sink(fopen("/dev/null", "w"));
	if (!text || tp_enable(text, "ways:*,marker:*") != 4)
		return 2;
	hit_by_threads();
	if (register_trace_way_one(probe_one, &sum) != 0 || register_trace_way_two(probe_two, &sum) != 0)
		return 2;
	hit_by_threads();
	tp_disable(text, "*");
	hit_by_threads();
	return 0;
}
