/* SPDX-License-Identifier: MIT */
/* beside.c - threads, one on each of two processors where there are two, make system calls between two events: arguments are THREADS CALLS. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "beside.h"

#define THREADS_MAX 64

static long calls;

static void *run(void *number)
{
	const long thread = (long)number;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)(thread % sysconf(_SC_NPROCESSORS_ONLN)), &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (long i = 0; i < calls; i++) {
		const long n = thread * calls + i;
		trace_before(n);
		syscall(SYS_sched_rr_get_interval, -1, NULL); /* fails: there is no such process */
		trace_after(n);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const long threads = argc > 1 ? atol(argv[1]) : 1;
	pthread_t all[THREADS_MAX];

	calls = argc > 2 ? atol(argv[2]) : 1;
	for (long i = 0; i < threads && i < THREADS_MAX; i++) {
		if (pthread_create(&all[i], NULL, run, (void *)i))
			return 1;
	}
	for (long i = 0; i < threads && i < THREADS_MAX; i++)
		pthread_join(all[i], NULL);
	if (argc > 3 && strcmp(argv[3], "wait") == 0) {
		puts("waiting");
		fflush(stdout);
		while (getchar() == '+') { /* once more */
			run(NULL);
			puts("done");
			fflush(stdout);
		}
	}
	return 0;
}
