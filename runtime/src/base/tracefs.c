/* SPDX-License-Identifier: MIT */
/*
 * base/tracefs.c - see tracefs.h.
 */
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#include "base/text.h"
#include "base/tracefs.h"

static bool is_tracefs(const char *path)
{
	struct statfs st;

	return statfs(path, &st) == 0 && st.f_type == TRACEFS_MAGIC;
}

/* The first mount of that type, and what is below it. */
static bool find_mount(const char *type, const char *below, struct tp_buffer *path)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char memory[4096];
	struct mntent mount;
	bool found = false;

	while (mounts && !found && getmntent_r(mounts, &mount, memory, sizeof(memory))) {
		found = strcmp(mount.mnt_type, type) == 0;
		if (found)
			tp_buffer_printf(path, "%s%s", mount.mnt_dir, below);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

bool tp_find_tracefs(struct tp_buffer *path)
{
	if (is_tracefs(TP_TRACEFS)) {
		tp_buffer_printf(path, "%s", TP_TRACEFS);
		return true;
	}
	return find_mount("tracefs", "", path) || find_mount("debugfs", "/tracing", path);
}
