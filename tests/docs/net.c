/* SPDX-License-Identifier: MIT */
/*
 * net.c - the server of the pages in docs/outputs: two threads, each with three requests; with an argument, over and
 * over.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "net.h"

static bool endless;

static void *serve(void *peer)
{
	do {
		for (size_t i = 1; i <= 3; i++)
			trace_net_request(peer, i % 2 ? 'G' : 'P', 100 * i);
	} while (endless && usleep(10000) == 0);
	return NULL;
}

int main(int argc, char **argv)
{
	(void)argv;
	endless = argc > 1;
	static char *peers[] = {"10.0.0.1", "10.0.0.2"};
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, serve, peers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts("served");
	return 0;
}
