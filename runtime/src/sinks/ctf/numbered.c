/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/numbered.c - snapshots one after the other, each in a directory with the next number.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/text.h"
#include "sinks/ctf/ctf.h"
#include "sinks/ctf/sink.h"

#define NUMBER_SIZE 32 /* of "-snapshot-N" */

int tp_ctf_snapshot_check(struct tp_sink *head, bool has_directory)
{
	const struct tp_ctf_sink *sink = tp_ctf_sink_of(head);

	if (!sink || !sink->options.flight)
		return -ENOTSUP;
	return has_directory || sink->pattern || sink->real_path ? 0 : -ENOTDIR;
}

bool tp_is_ctf(struct tp_sink *head)
{
	return tp_ctf_sink_of(head) != NULL;
}

static int below(struct tp_sink *head, int dir, unsigned int *number)
{
	char name[NUMBER_SIZE];

	for (;; ++*number) {
		snprintf(name, sizeof(name), "snapshot-%u", *number);
		if (mkdirat(dir, name, 0700) == 0)
			break;
		if (errno != EEXIST)
			return -errno;
	}
	const int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const int error = fd < 0 ? -errno : tp_ctf_snapshot_in(head, fd, name);
	if (error)
		unlinkat(dir, name, AT_REMOVEDIR);
	return error;
}

static int beside(struct tp_sink *head, unsigned int *number)
{
	const struct tp_ctf_sink *sink = tp_ctf_sink_of(head);

	if (tp_ctf_is_later(sink)) /* of a trace with %p: this process has recorded nothing */
		return -ENODATA;
	const size_t size = strlen(sink->real_path) + NUMBER_SIZE;
	char *path = tp_malloc(size);
	if (!path)
		return -ENOMEM;
	for (;; ++*number) {
		snprintf(path, size, "%s-snapshot-%u", sink->real_path, *number);
		if (mkdir(path, 0700) == 0 || errno != EEXIST)
			break;
	}
	const int error = tp_ctf_snapshot(head, path); /* which says why there is no directory */
	if (error)
		rmdir(path);
	free(path);
	return error;
}

int tp_ctf_snapshot_next(struct tp_sink *sink, int dir, unsigned int *number)
{
	const int error = dir >= 0 ? below(sink, dir, number) : beside(sink, number);

	if (!error)
		++*number;
	return error;
}
