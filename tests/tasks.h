/* SPDX-License-Identifier: MIT */
/*
 * tasks.h - for programs of tests that count their threads.
 */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PF_EXITING 4u /* of proc(5)'s flags in stat */

/* The kernel lists a thread for a moment behind pthread_join(). */
static inline bool task_is_ending(const char *id)
{
	char path[300], line[512] = "";
	unsigned int flags;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", id);
	FILE *file = fopen(path, "r");
	if (!file)
		return true;
	const bool is_read = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	const char *rest = is_read ? strrchr(line, ')') : NULL; /* behind the name */
	return !rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 || flags & PF_EXITING;
}

/* By what the kernel calls it; what has ended is called nothing. */
static inline bool task_is_called(const char *id, const char *name)
{
	char path[300], line[32] = "";

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", id);
	FILE *file = fopen(path, "r");
	const bool is_read = file && fgets(line, sizeof(line), file);
	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return is_read && strcmp(line, name) == 0;
}

#endif /* TASKS_H */
