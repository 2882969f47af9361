/* SPDX-License-Identifier: MIT */
/*
 * lines.h - for programs of tests that do what lines from standard input say.
 */
#ifndef LINES_H
#define LINES_H

#include <stdio.h>
#include <stdlib.h>

/* Calls obey for each line, without its newline; the line may be changed, and ends with the call. Until the end of the input. */
static inline void obey_lines(void (*obey)(char *line))
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) > 0) {
		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		obey(line);
	}
	free(line);
}

#endif /* LINES_H */
