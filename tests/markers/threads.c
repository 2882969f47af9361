/* SPDX-License-Identifier: MIT */
/* Threads hit a marker while its probe comes and goes, with data that does so, too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tp/marker.h>

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

int main(void)
{
	static int indices[2] = {0, 1};
	pthread_t threads[2];
	unsigned int rounds = 0;
	long total = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, hit, &indices[i]);
	while (rounds < 50 || (!total && rounds < 100000)) {
		struct sum *sum = calloc(1, sizeof(*sum));
		if (!sum || marker_probe_register("sum", "index %d by %d", add, sum) ||
		    marker_probe_unregister("sum", add, sum))
			return 2;
		marker_synchronize_unregister();
		total += sum->of[0] + sum->of[1];
		free(sum);
		rounds++;
	}
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	puts(total > 0 ? "hit" : "never hit");
	return 0;
}
