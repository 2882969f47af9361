/* SPDX-License-Identifier: MIT */
#include "kernel/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/tracefs.h"
#include "fail_msg.h"

#define PREFIX "tp-record-" /* and the id of tp */
#define INSTANCES "instances"
#define CHUNK ((size_t)64 << 10)

/* ---- Files ---- */

/* Their sizes are not known before they are read. */
char *tracefs_read(int dir, const char *file, size_t *len)
{
	struct tp_buffer text = {.text = NULL};
	char *chunk = malloc(CHUNK);
	int fd = chunk ? openat(dir, file, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && !text.failed) {
		n = read(fd, chunk, CHUNK);
		if (n > 0)
			tp_buffer_put(&text, chunk, (size_t)n);
	}
	const int error = errno;
	if (fd >= 0)
		close(fd);
	free(chunk);
	if (n < 0 || text.failed) {
		tp_buffer_free(&text);
		errno = n < 0 ? error : ENOMEM;
		return NULL;
	}
	*len = text.len;
	return text.text ? text.text : calloc(1, 1);
}

bool tracefs_write(int dir, const char *file, const char *text)
{
	int fd = openat(dir, file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	const bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return good;
}

/* ---- Those that are left over ---- */

static bool is_ours(const char *name)
{
	const size_t len = strlen(PREFIX);

	return strncmp(name, PREFIX, len) == 0 && name[len] && strspn(name + len, "0123456789") == strlen(name + len);
}

static int open_locked(int instances, const char *name)
{
	int dir = openat(instances, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0)
		return dir;
	if (dir >= 0)
		close(dir);
	return -1;
}

static void remove_left_over(int instances)
{
	int copy = openat(instances, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL) {
		int dir = is_ours(entry->d_name) ? open_locked(instances, entry->d_name) : -1;
		if (dir < 0)
			continue;
		unlinkat(instances, entry->d_name, AT_REMOVEDIR);
		close(dir);
	}
	if (list)
		closedir(list);
	else if (copy >= 0)
		close(copy);
}

/* ---- The own one ---- */

static bool open_tracefs(struct instance *instance)
{
	struct tp_buffer path = {.text = NULL};

	if (geteuid() != 0)
		return fail_msg("--kernel needs root, as the kernel's events tell of all users' processes: run tp by sudo");
	if (!tp_find_tracefs(&path))
		return fail_msg("--kernel: tracefs is not mounted: mount -t tracefs nodev " TP_TRACEFS);
	if (path.failed)
		return fail_no_memory();
	instance->tracefs = open(path.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (instance->tracefs < 0)
		fail_msg("--kernel: '%s' can't be opened: %s", path.text, strerror(errno));
	tp_buffer_free(&path);
	return instance->tracefs >= 0;
}

static const char *advice(int error)
{
	return error == EACCES || error == EPERM ? "; the kernel is locked down, or a container or a security policy forbids it: run tp outside"
	       : error == EROFS			 ? "; it is mounted read-only, as in containers: run tp outside of it"
	       : error == ENOENT		 ? "; this kernel has no instances"
						 : "";
}

/* The lock on all of them: nobody takes one away that is just being made. */
static bool make_in(struct instance *instance, int instances)
{
	flock(instances, LOCK_EX);
	remove_left_over(instances);
	snprintf(instance->name, sizeof(instance->name), PREFIX "%d", (int)getpid());
	if (mkdirat(instances, instance->name, 0700) == 0) {
		instance->dir = open_locked(instances, instance->name);
		if (instance->dir >= 0 && tracefs_write(instance->dir, "tracing_on", "0"))
			return true;
		unlinkat(instances, instance->name, AT_REMOVEDIR);
	}
	instance->name[0] = '\0';
	return false;
}

bool instance_make(struct instance *instance)
{
	if (!open_tracefs(instance))
		return false;
	int instances = openat(instance->tracefs, INSTANCES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const bool good = instances >= 0 && make_in(instance, instances);
	const int error = errno;
	if (instances >= 0)
		close(instances);
	return good || fail_msg("--kernel: no trace buffer can be made in tracefs: %s%s", strerror(error), advice(error));
}

void instance_remove(struct instance *instance)
{
	char path[64];

	if (!instance->name[0])
		return;
	snprintf(path, sizeof(path), INSTANCES "/%s", instance->name);
	if (unlinkat(instance->tracefs, path, AT_REMOVEDIR) != 0 && errno != ENOENT)
		fail_msg("the kernel's trace buffer %s can't be removed: %s; the next \"tp record --kernel\" tries it again", path, strerror(errno));
	instance->name[0] = '\0';
}

void instance_close(struct instance *instance)
{
	if (instance->dir >= 0)
		close(instance->dir);
	if (instance->tracefs >= 0)
		close(instance->tracefs);
	instance->dir = instance->tracefs = -1;
}
