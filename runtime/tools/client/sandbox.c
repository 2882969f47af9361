/* SPDX-License-Identifier: MIT */
#include "client/sandbox.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/proc.h"

#define MAX_TEXT ((size_t)64 << 10)

/* "task/TID/status" of the process has both lines. */
static bool is_filtered_thread(pid_t pid, const char *tid)
{
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "task/%.20s/status", tid);
	char *text = proc_text(pid, name, MAX_TEXT, &len);
	const char *seccomp = text ? strstr(text, "\nSeccomp:\t") : NULL;
	const bool filtered = seccomp && seccomp[strlen("\nSeccomp:\t")] != '0' &&
			      strncmp(text, "Name:\ttp-helper\n", strlen("Name:\ttp-helper\n")) == 0;

	free(text);
	return filtered;
}

bool sandbox_may_end(pid_t pid)
{
	const struct dirent *entry;
	bool filtered = false;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	while (tasks && !filtered && (entry = readdir(tasks)))
		filtered = entry->d_name[0] != '.' && is_filtered_thread(pid, entry->d_name);
	if (tasks)
		closedir(tasks);
	if (!filtered)
		return false;
	char *setting = proc_environment(pid, "TP_CONTROL");
	const bool wanted = setting && *setting;
	free(setting);
	return !wanted;
}
