/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/watch.c - whether somebody may be reading a packet's file. Who has opened one may read it much later, and so
 * it must not become another packet. inotify(7) tells of those who open files. It does not matter which file it was: whoever
 * reads a trace opens all of its files.
 *
 * Whoever was on the way through open(2) when the file lost its name, and had not told yet, reads the packet that it becomes.
 */
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/file.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

static int open_watch(const void *data)
{
	(void)data;
	return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void tp_ctf_watch_start(struct tp_ctf_sink *sink)
{
	sink->ring.opened = 1;
	if (tp_guarded_fd_take(&sink->ring.watch, open_watch(NULL)) == 0)
		tp_guarded_fd_mark(&sink->ring.watch);
}

void tp_ctf_watch_stop(struct tp_ctf_sink *sink)
{
	tp_guarded_fd_close(&sink->ring.watch);
	sink->ring.watch = (struct tp_guarded_fd)TP_GUARDED_FD_NONE;
}

uint64_t tp_ctf_watch_add(struct tp_ctf_sink *sink, int file)
{
	int fd = tp_guarded_fd_descriptor(&sink->ring.watch), error;
	char path[32];

	if (fd < 0) {
		sink->ring.opened++; /* the program has closed it, and nobody knows what it would have told */
		fd = tp_guarded_fd_get(&sink->ring.watch, open_watch, NULL, true, &error);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return fd >= 0 && inotify_add_watch(fd, path, IN_OPEN) >= 0 ? sink->ring.opened : 0;
}

bool tp_ctf_watch_was_quiet(struct tp_ctf_sink *sink, uint64_t since)
{
	const int fd = tp_guarded_fd_descriptor(&sink->ring.watch);
	_Alignas(struct inotify_event) char told[1024];
	ssize_t size;

	while (fd >= 0 && (size = read(fd, told, sizeof(told))) > 0) {
		for (const char *at = told; at < told + size; at += sizeof(struct inotify_event)) /* of files, they have no name */
			if (((const struct inotify_event *)at)->mask & (IN_OPEN | IN_Q_OVERFLOW))
				sink->ring.opened++;
	}
	return fd >= 0 && since == sink->ring.opened;
}
