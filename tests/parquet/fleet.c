/* SPDX-License-Identifier: MIT */
/*
 * fleet.c EVENTS THREADS [wait] - a server of a fleet: each thread has a few requests at once, and reads for some of them from a disk.
 * With "wait", each thread stops after half of its events, until a line comes, and after all, until its input ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CREATE_TRACE_POINTS
#include "fleet.h"

#define THREADS 64
#define AT_ONCE 4
#define PER_REQUEST 5 /* events of two requests */

static const int statuses[] = {200, 200, 200, 200, 404, 200, 503};
static long nr_requests; /* of a thread */
static int waits;
static pthread_barrier_t stopped, goes_on;

static void stop(void)
{
	if (!waits)
		return;
	pthread_barrier_wait(&stopped);
	pthread_barrier_wait(&goes_on);
}

/* Each second request reads from the disk. Some peers ask more often than others. */
static void begin(uint64_t id, long i)
{
	char peer[16];

	snprintf(peer, sizeof(peer), "10.0.%u.%u", (unsigned int)(i % 7 % 3), (unsigned int)(i % 200));
	trace_request_begin(id, peer, i % 3 ? 'G' : 'P');
	if (i % 2)
		trace_disk_read((int)(i % 16) + 3, (size_t)(i % 1000) * 512, (double)(i % 100) / 8);
}

static void *serve(void *number)
{
	const uint64_t first = (uint64_t)(size_t)number << 32;

	for (long i = 0; i < nr_requests + AT_ONCE; i++) {
		if (i == nr_requests / 2)
			stop();
		if (i < nr_requests)
			begin(first + (uint64_t)i, i);
		if (i >= AT_ONCE)
			trace_request_end(first + (uint64_t)(i - AT_ONCE), statuses[i % 7], (size_t)(i % 1009) * 10);
	}
	stop();
	return NULL;
}

static void tell(const char *text)
{
	if (!waits)
		return;
	pthread_barrier_wait(&stopped);
	puts(text);
	fflush(stdout);
	getchar();
	pthread_barrier_wait(&goes_on);
}

int main(int argc, char **argv)
{
	const size_t nr = argc > 2 ? (size_t)atol(argv[2]) : 0;
	pthread_t threads[THREADS];

	if (nr == 0 || nr > THREADS)
		return 2;
	waits = argc > 3 && strcmp(argv[3], "wait") == 0;
	nr_requests = 2 * atol(argv[1]) / (long)nr / PER_REQUEST;
	pthread_barrier_init(&stopped, NULL, (unsigned int)nr + 1);
	pthread_barrier_init(&goes_on, NULL, (unsigned int)nr + 1);
	for (size_t i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, serve, (void *)(i + 1));
	tell("half");
	tell("all");
	for (size_t i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
