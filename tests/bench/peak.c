/* SPDX-License-Identifier: MIT */
/*
 * peak.c - what a command takes: "peak FILE COMMAND..." writes into FILE how many seconds of the processor, and how many KiB of memory at
 * most. Its children's are among it: the time of all, the memory of the largest. A program that is large itself, as Python, can't tell:
 * until a child runs another program, it counts as large as its parent.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int status;

	if (argc < 3)
		return 2;
	const pid_t pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status))
		return 2;
	FILE *file = fopen(argv[1], "w");
	if (!file || fprintf(file, "%.6f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss) < 0 || fclose(file) != 0)
		return 2;
	return WEXITSTATUS(status);
}
