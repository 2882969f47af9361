/* SPDX-License-Identifier: MIT */
/*
 * Threads hit a marker while its probe comes and goes, with data that does so, too; and while it becomes
 * an event, after which sites call another iterator.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tp/marker.h>
#include <tp/tp.h>

static bool done;

struct sum {
	long of[2]; /* one a thread */
};

static void *hit(void *index)
{
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		trace_mark(sum, "index %d by %d", *(int *)index, 1);
	return NULL;
}

static void add(void *data, void *marker, const char *fmt, va_list *args)
{
	struct sum *sum = data;
	int index = va_arg(*args, int);

	(void)marker;
	(void)fmt;
	sum->of[index] += va_arg(*args, int);
}

/* Returns how often it was hit. */
static long come_and_go(void)
{
	unsigned int rounds = 0;
	long total = 0;

	while (rounds < 50 || (!total && rounds < 100000)) {
		struct sum *sum = calloc(1, sizeof(*sum));
		if (!sum || marker_probe_register("sum", "index %d by %d", add, sum) ||
		    marker_probe_unregister("sum", add, sum))
			exit(2);
		marker_synchronize_unregister();
		total += sum->of[0] + sum->of[1];
		free(sum);
		rounds++;
	}
	return total;
}

int main(void)
{
	static int indices[2] = {0, 1};
	static struct sum all;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, hit, &indices[i]);
	long before = come_and_go();
	if (marker_probe_register("sum", "index %d by %d", add, &all))
		return 2;
	struct tp_sink *sink = tp_text_sink(stderr); /* takes no event, but all get to be events */
	long after = come_and_go();
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts(before > 0 && after > 0 && all.of[0] + all.of[1] > 0 ? "hit" : "never hit");
	tp_sink_close(sink);
	return 0;
}
