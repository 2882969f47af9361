/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - what a program takes from its start to its end.
 *
 *	spawn TIMES PROGRAM [ARGUMENT]
 *
 * prints the nanoseconds of processor time, the median of so many times; with an
 * argument instead the page faults of the last time, which need no disk. The
 * time that passes would be longer by what else the machine does.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double nanoseconds(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

int main(int argc, char **argv)
{
	size_t times = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	double *took = calloc(times + 1, sizeof(*took));
	struct rusage usage = {.ru_minflt = 0};

	if (!times || !took) {
		fprintf(stderr, "usage: spawn TIMES PROGRAM [ARGUMENT]\n");
		return 1;
	}
	for (size_t i = 0; i <= times; i++) { /* the first one only reads the file */
		char *arguments[] = {argv[2], NULL};
		int status;
		pid_t pid;
		if (posix_spawn(&pid, argv[2], NULL, NULL, arguments, environ) != 0 ||
		    wait4(pid, &status, 0, &usage) != pid || status != 0) {
			fprintf(stderr, "spawn: %s has failed\n", argv[2]);
			return 1;
		}
		took[i] = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
	}
	qsort(took + 1, times, sizeof(*took), compare);
	printf("%.0f\n", argc > 3 ? (double)usage.ru_minflt : took[1 + times / 2]);
	return 0;
}
