/* SPDX-License-Identifier: MIT */
/*
 * storm.c - storm TRACE ROUNDS flight|plain: triggers of all kinds are set and taken off so often, while threads and their signal
 * handlers fire them; other sinks are opened, and closed while their triggers fire; and children
 * have all that.
 */
#define CREATE_TRACE_POINTS
#include "shop.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tp/tp.h>

#define NR_THREADS 3

static bool end;

static void handler(int sig)
{
	(void)sig;
	trace_failure(1, "in a handler");
	trace_detail(2);
}

static void *work(void *unused)
{
	for (int i = 0; !__atomic_load_n(&end, __ATOMIC_RELAXED); i++) {
		trace_order(i, i % 100);
		trace_failure(i % 1000, "text");
		trace_detail(i);
	}
	return unused;
}

/* Without a flight recorder, the last two are none. */
static const char *const triggers[][2] = {
	{"order", "traceoff if price == 7"}, {"shop:detail", "traceon"}, {"failure", "enable_event:shop:detail:5 if code < 10"},
	{"order", "disable_event:shop:detail"}, {"shop:*", "enable_event:shop:order"},
	{"failure", "stacktrace:1000 if code & 1"}, {"order", "stacktrace:20"},
	{"shop:*", "hist:keys=common_pid"}, {"order", "hist:keys=price:vals=id if id > 3"},
	{"failure", "disable_hist:shop:order:4"}, {"detail", "enable_hist:shop:order"},{"failure", "snapshot:1 if code == 3"},
	{"order", "snapshot:1:after=500ms"},
};

static bool flight;

#define NR (sizeof(triggers) / sizeof(triggers[0]) - (flight ? 0 : 2))

static struct tp_sink *open_trace(const char *directory)
{
	return tp_ctf_sink(directory, flight ? "mode=flight,packets=4,packet=64K" : "packet=64K");
}

static int turn(struct tp_sink *sink, unsigned int i, bool set)
{
	char *error, off[128];

	snprintf(off, sizeof(off), "%s%s", set ? "" : "!", triggers[i % NR][1]);
	const int result = tp_trigger(sink, triggers[i % NR][0], off, &error);
	const bool good = set ? result >= 0 : result == 0;
	if (!good)
		fprintf(stderr, "%s %s: %d %s\n", triggers[i % NR][0], off, result, error ? error : "");
	free(error);
	return good ? 0 : 1;
}

/* A sink is closed while its triggers fire. */
static int open_and_close(const char *directory)
{
	struct tp_sink *sink = open_trace(directory);
	int wrong = !sink || tp_enable(sink, "shop:*") < 0;

	for (unsigned int i = 0; i < NR && !wrong; i++)
		wrong = !strstr(triggers[i][1], "hist") && turn(sink, i, true); /* histograms belong to no sink */
	return wrong || tp_sink_close(sink);
}

/* A child has the triggers, sets one more, and closes the sink, while its parent goes on. */
static int fork_and_close(struct tp_sink *sink)
{
	int status;
	const pid_t child = fork();

	if (child == 0) {
		trace_failure(3, "in a child");
		trace_order(1, 7);
		_exit(tp_trigger(sink, "none:*", "traceoff", NULL) || tp_sink_close(sink));
	}
	return waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv)
{
	flight = argc == 4 && strcmp(argv[3], "flight") == 0;
	struct tp_sink *sink = open_trace(argv[1]);
	pthread_t threads[NR_THREADS];
	char other[256];
	int wrong = 0;

	if (argc != 4 || !sink || tp_enable_if(sink, "shop:*", "common_pid != 1", NULL) != 3)
		return 1;
	signal(SIGUSR1, handler);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	const unsigned int rounds = (unsigned int)atoi(argv[2]);
	for (unsigned int i = 0; i < rounds && !wrong; i++) {
		wrong = turn(sink, i, true);
		if (i >= 3)
			wrong = wrong || turn(sink, i - 3, false);
		pthread_kill(threads[i % NR_THREADS], SIGUSR1);
		snprintf(other, sizeof(other), "%s-other-%u", argv[1], i);
		if (i % 50 == 0)
			wrong = wrong || open_and_close(other) || fork_and_close(sink);
	}
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	return wrong || tp_sink_close(sink) ? 4 : 0;
}
