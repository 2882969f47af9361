/* SPDX-License-Identifier: MIT */
/*
 * requests.c - each request begins in one thread and ends in another.
 */
#define CREATE_TRACE_POINTS
#include "requests.h"

#include <pthread.h>
#include <stdio.h>

static void *end(void *id)
{
	trace_request_end(*(uint32_t *)id, 200);
	return NULL;
}

int main(void)
{
	for (uint32_t id = 0; id < 30; id++) {
		char peer[16];
		pthread_t thread;
		snprintf(peer, sizeof(peer), "10.0.0.%u", id % 3);
		trace_request_begin(id, peer);
		pthread_create(&thread, NULL, end, &id);
		pthread_join(thread, NULL);
	}
	trace_request_end(7, 500); /* did not begin again */
	return 0;
}
