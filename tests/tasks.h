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

#endif /* TASKS_H */
