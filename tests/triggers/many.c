/* SPDX-License-Identifier: MIT */
/* many.c - many TIMES: threads fire a trigger that is to fire so often. */
#define CREATE_TRACE_POINTS
#include "shop.h"

#include <pthread.h>
#include <stdio.h>

#include <tp/tp.h>

#define NR_THREADS 4
#define HITS 2000

static void *work(void *unused)
{
	for (int i = 0; i < HITS; i++)
		trace_order(i, i);
	return unused;
}

int main(int argc, char **argv)
{
	struct tp_sink *sink = tp_text_sink(stdout);
	pthread_t threads[NR_THREADS];
	char trigger[64];

	snprintf(trigger, sizeof(trigger), "stacktrace:%s", argc == 2 ? argv[1] : "");
	if (tp_trigger(sink, "order", trigger, NULL) != 1)
		return 1;
	for (int i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	return tp_sink_close(sink) ? 2 : 0;
}
