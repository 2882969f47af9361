/* SPDX-License-Identifier: MIT */
/*
 * values.c - hits events whose values are worth counting:
 *
 *	values [THREADS HITS [MODULE]]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CREATE_TRACE_POINTS
#include "values.h"

static long hits;

static void *work(void *number)
{
	char text[128];
	long first = (long)(intptr_t)number * hits;

	for (long n = first; n < first + hits; n++) {
		trace_values_numbers(n);
		/* Most are alike; some are longer than what tells them apart. */
		snprintf(text, sizeof(text), "%ld %0*ld", n % 7, n % 3 == 0 ? 80 : 5, n % 17);
		trace_values_names(n, text);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long nr = argc > 2 ? atol(argv[1]) : 1;
	pthread_t threads[64];

	hits = argc > 2 ? atol(argv[2]) : 100;
	for (long i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; argc > 3 && i < 2; i++) {
		void *module = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
		void (*visit)(int) = module ? (void (*)(int))(uintptr_t)dlsym(module, "visit") : NULL;
		if (!visit)
			return 1;
		visit(21);
		dlclose(module);
	}
	return 0;
}
