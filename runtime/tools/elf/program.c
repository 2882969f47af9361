/* SPDX-License-Identifier: MIT */
#include "elf/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail_msg.h"

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* NULL: it is not in $PATH, or there is no memory. */
static char *find_in_path(const char *name)
{
	const char *dir = getenv("PATH");

	while (dir) {
		const size_t len = strcspn(dir, ":");
		char *path;
		/* An empty one is the current directory. */
		if (asprintf(&path, "%.*s%s%s", (int)len, dir, len ? "/" : "./", name) < 0)
			return NULL;
		if (is_executable(path))
			return path;
		free(path);
		dir = dir[len] ? dir + len + 1 : NULL;
	}
	return NULL;
}

char *program_path(const char *name)
{
	char *path = strchr(name, '/') ? NULL : find_in_path(name);

	if (!path && access(name, F_OK) == 0)
		path = strdup(name);
	if (!path && strchr(name, '/'))
		fail_msg("'%s' can't be read: %s", name, strerror(errno));
	else if (!path)
		fail_msg("there is no program '%s' in $PATH, nor a file of that name here: give its path", name);
	return path;
}
