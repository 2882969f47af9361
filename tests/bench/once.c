/* SPDX-License-Identifier: MIT */
/*
 * once.c - what is paid once a thread, and once a fork: "once NUMBER threads|forks off|on|probe" makes so many, one after the
 * other, and prints the nanoseconds that each took, from its making to its end. A thread hits the event once; but "off", it
 * does not. A child ends at once. "on" is for events that TP_ENABLE has enabled; "probe" registers one.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "bench.h"

static bool hits;

static void probe(void *data, uint64_t number, uint32_t id, const char *name)
{
	(void)data;
	(void)number;
	(void)id;
	(void)name;
}

static void *thread(void *unused)
{
	if (hits)
		trace_bench_event(1, 2, "sixteen letters.");
	return unused;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void one_thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread, NULL) != 0)
		fail("pthread_create");
	pthread_join(id, NULL);
}

static void one_fork(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		fail("fork");
}

int main(int argc, char **argv)
{
	struct timespec begin, end;

	if (argc != 4)
		return 2;
	const long number = atol(argv[1]);
	void (*make)(void) = strcmp(argv[2], "threads") == 0 ? one_thread : one_fork;
	hits = strcmp(argv[3], "off") != 0;
	if (strcmp(argv[3], "probe") == 0 && register_trace_bench_event(probe, NULL) != 0)
		return 1;
	trace_bench_event(1, 2, "sixteen letters."); /* the process's own first one is not meant */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (long i = 0; i < number; i++)
		make();
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%f\n", ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)number);
	return 0;
}
