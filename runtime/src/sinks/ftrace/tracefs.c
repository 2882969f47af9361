/* SPDX-License-Identifier: MIT */
/*
 * sinks/ftrace/tracefs.c - where the kernel's trace buffers are: the top-level one, and
 * instances, which are buffers of their own beside it.
 */
#include <errno.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/message.h"
#include "base/text.h"
#include "sinks/ftrace/tracefs.h"

#define USUAL_PLACE "/sys/kernel/tracing"

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

static bool find_tracefs(struct tp_buffer *path)
{
	if (is_tracefs(USUAL_PLACE)) {
		tp_buffer_printf(path, "%s", USUAL_PLACE);
		return true;
	}
	return find_mount("tracefs", "", path) || find_mount("debugfs", "/tracing", path);
}

static bool is_name(const char *instance)
{
	return !strchr(instance, '/') && strcmp(instance, ".") != 0 && strcmp(instance, "..") != 0;
}

static int make_instance(const struct tp_buffer *path)
{
	if (path->failed || mkdir(path->text, 0750) == 0)
		return 0;
	int error = errno;
	struct stat st;
	if (stat(path->text, &st) == 0 || errno != ENOENT)
		return 0; /* it is there, or what is wrong with it will be seen when it is opened */
	tp_complain("ftrace sink: %s: the instance can't be made: %s%s", path->text, tp_strerror(error),
		    error == EACCES ? "; make it as root" : tp_tracefs_advice(error));
	return -error;
}

int tp_tracefs_find(const char *instance, struct tp_buffer *path)
{
	if (instance && *instance == '/') {
		tp_buffer_printf(path, "%s", instance);
		return 0;
	}
	if (instance && !is_name(instance)) {
		tp_complain("ftrace sink: '%s' is no name of an instance: write one without '/', or a path that begins with "
			    "it", instance);
		return -EINVAL;
	}
	if (!find_tracefs(path)) {
		tp_complain("ftrace sink: tracefs is not mounted: as root, mount -t tracefs nodev " USUAL_PLACE);
		return -ENOENT;
	}
	if (!instance || !*instance)
		return 0;
	tp_buffer_printf(path, "/instances/%s", instance);
	return make_instance(path);
}

const char *tp_tracefs_advice(int error)
{
	switch (error) {
	case EACCES:
		return "; run it as root, or let a group in: as root, mount -o remount,gid=GROUP,mode=0750 on the tracefs";
	case EPERM:
		return "; the kernel is locked down, or a security policy forbids it";
	case ENOENT:
		return "; a directory must be there, and be tracefs's: make the instance, or write its name without a path";
	case EROFS:
		return "; containers often have a read-only /sys: mount tracefs in it, or outside of it";
	default:
		return "";
	}
}
