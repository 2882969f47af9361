/* SPDX-License-Identifier: MIT */
/*
 * tracepoints.c - looks at the files that a process has mapped: libtp.so is one of them, or one has a section of events or
 * tracepoints.
 */
#include "client/tracepoints.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/proc.h"
#include "elf/sections.h"

#define MAX_MAPS ((size_t)16 << 20)

static bool file_has_any(const char *path)
{
	struct image image;
	struct sections sections = {.nr = 0};

	if (image_open(&image, path) == NULL)
		sections_read(&sections, &image);
	image_close(&image);
	return sections.nr;
}

/* One line of maps: "FROM-TO r-xp OFFSET DEVICE INODE   PATH". *last is the path of the line before. */
static bool line_has_any(pid_t pid, const char *line, const char **last)
{
	const char *path = strchr(line, '/');
	char file[4200];

	if (!path || (*last && strcmp(path, *last) == 0))
		return false;
	*last = path;
	const char *base = strrchr(path, '/') + 1;
	if (strncmp(base, "libtp.so", 8) == 0)
		return true;
	/* As the process sees it; and it stays there where the file was replaced. */
	snprintf(file, sizeof(file), "/proc/%d/map_files/%.*s", (int)pid, (int)strcspn(line, " "), line);
	if (access(file, R_OK) != 0)
		snprintf(file, sizeof(file), "/proc/%d/root%s", (int)pid, path);
	return file_has_any(file);
}

enum tracepoints tracepoints_of(pid_t pid)
{
	size_t len;
	char *maps = proc_text(pid, "maps", MAX_MAPS, &len);
	const char *last = NULL;
	char *rest = NULL;
	bool any = false;

	if (!maps)
		return TRACEPOINTS_UNKNOWN;
	for (char *line = strtok_r(maps, "\n", &rest); line && !any; line = strtok_r(NULL, "\n", &rest))
		any = line_has_any(pid, line, &last);
	free(maps);
	return any ? TRACEPOINTS_YES : TRACEPOINTS_NONE;
}
