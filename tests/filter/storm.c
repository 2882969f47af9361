/* SPDX-License-Identifier: MIT */
/*
 * storm.c - storm TRACE CHANGES: the filter of an event is changed so often, while threads and their signal handlers
 * hit it. The trace has the records that a filter accepted. Prints how often the number was hit that all filters accept.
 */
#define CREATE_TRACE_POINTS
#include "storm.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <tp/tp.h>

#define NR_THREADS 3
#define ALWAYS 50
#define NEVER 900
#define RARELY 4096

static bool end;
static unsigned long hits;

static void hit_always(void)
{
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	trace_storm_hit(ALWAYS, "always");
}

static void handler(int sig)
{
	(void)sig;
	trace_storm_hit(NEVER, "never, in a handler");
	hit_always();
}

static void *work(void *unused)
{
	for (int i = 0; !__atomic_load_n(&end, __ATOMIC_RELAXED); i++) {
		trace_storm_hit(NEVER, "never");
		if (i % RARELY == 0)
			hit_always();
		else if (i % RARELY == 1)
			trace_storm_hit(ALWAYS + 1 + i / RARELY % 400, "sometimes");
	}
	return unused;
}

int main(int argc, char **argv)
{
	static const char *const filters[] = {
		"number < 100", "number == 50 || number > 950", "number & 2 && number < 400", "!(number >= 300)",
		"text ~ \"*s\" && number <= 440 && comm != \"nobody\"",
	};
	struct tp_sink *sink = tp_ctf_sink(argv[1], "packet=256K");
	pthread_t threads[NR_THREADS];
	char *error;

	if (argc != 3 || !sink || tp_enable_if(sink, "storm:*", filters[0], &error) != 1)
		return 1;
	signal(SIGUSR1, handler);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < atoi(argv[2]); i++) {
		if (tp_enable_if(sink, "storm:*", filters[i % 5], &error) != 1 || error)
			return 2;
		if (tp_enable_if(sink, "storm:*", "nubmer == 1", &error) >= 0 || !error)
			return 3;
		free(error);
		pthread_kill(threads[i % NR_THREADS], SIGUSR1);
	}
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu %lu\n", hits, tp_sink_lost(sink));
	return tp_sink_close(sink) ? 4 : 0;
}
