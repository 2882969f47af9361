/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/pid_name.h"

#define DIGITS 10 /* of an int */

size_t tp_pid_name_size(const char *pattern)
{
	size_t size = strlen(pattern) + 1;

	while ((pattern = strstr(pattern, "%p"))) {
		pattern += 2;
		size += DIGITS;
	}
	return size;
}

void tp_pid_name(char *to, const char *pattern, int pid)
{
	const char *percent;

	for (; (percent = strstr(pattern, "%p")); pattern = percent + 2) {
		memcpy(to, pattern, (size_t)(percent - pattern));
		to += percent - pattern;
		to += snprintf(to, DIGITS + 1, "%d", pid);
	}
	strcpy(to, pattern);
}
