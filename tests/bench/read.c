/* SPDX-License-Identifier: MIT */
/* read.c - records what is read: "read EVENTS THREADS", of each thread its part. The pairs of events have the field id in common. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CREATE_TRACE_POINTS
#include "read.h"

static const char *const paths[] = {"/index.html", "/images/logo.png", "/api/v1/users/17", "/api/v1/orders?from=2026"};
static unsigned long pairs;

static void *serve(void *argument)
{
	const uint64_t thread = (uint64_t)(uintptr_t)argument;

	for (uint64_t i = 0; i < pairs; i++) {
		const char *path = paths[i % (sizeof(paths) / sizeof(*paths))];
		const void *connection = (const char *)0x7f0000001000 + (i % 50 << 8);
		trace_bench_begin(thread << 40 | i, path, (uint32_t)(i % 9000), 1, connection);
		trace_bench_end(thread << 40 | i, path, (uint32_t)(i % 9000), 2, connection);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	const unsigned long nr = strtoul(argv[2], NULL, 10);
	pthread_t threads[64];

	if (!nr || nr > sizeof(threads) / sizeof(*threads))
		return 2;
	pairs = strtoul(argv[1], NULL, 10) / 2 / nr;
	for (unsigned long i = 0; i < nr; i++) {
		if (pthread_create(&threads[i], NULL, serve, (void *)(uintptr_t)i) != 0)
			return 1;
	}
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
