/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/describe/log.c - the runtime's messages, in the directory of each trace that
 * is open: log/PID. A daemon's standard error is mostly /dev/null; and what the
 * messages tell of belongs to the trace.
 *
 * Readers of traces take a file for a stream, but not a directory.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/message.h"
#include "sinks/ctf/describe/log.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/sink.h"

/* A message may come at any time, also while tp_ctf_lock is held: so there is no lock, and who closes a sink waits. */
static struct tp_ctf_sink *open_sinks[TP_STREAM_SINKS];
static unsigned int nr_writing;

static void append(struct tp_ctf_sink *sink, const char *line, size_t len)
{
	const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
	struct tp_write_signals signals;
	char name[32];
	int error;

	int dir = tp_ctf_is_later(sink) ? -1 : tp_ctf_dir(sink, &error);
	int log = dir < 0 ? -1 : tp_ctf_subdirectory(sink, dir, "log", false, &error);
	if (log < 0)
		return;
	snprintf(name, sizeof(name), "%d", sink->pid);
	int fd = openat(log, name, flags | O_CREAT | O_EXCL, 0600);
	if (fd >= 0)
		tp_ctf_give(&sink->options.owner, fd);
	else
		fd = openat(log, name, flags);
	close(log);
	if (fd < 0)
		return;
	tp_write_signals_hold(&signals);
	error = tp_file_write(fd, line, len); /* the message has also gone to where TP_LOG says */
	tp_write_signals_release(&signals, error != 0);
	close(fd);
}

static void listen_to_messages(const char *line, size_t len)
{
	struct tp_guard guard;

	if (tp_sandboxed)
		return;
	bool entered = tp_guard_enter(&guard); /* else the caller has done so */

	__atomic_fetch_add(&nr_writing, 1, __ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < TP_STREAM_SINKS; i++) {
		struct tp_ctf_sink *sink = __atomic_load_n(&open_sinks[i], __ATOMIC_SEQ_CST);
		if (sink)
			append(sink, line, len);
	}
	__atomic_fetch_sub(&nr_writing, 1, __ATOMIC_SEQ_CST);
	if (entered)
		tp_guard_leave(&guard);
}

void tp_ctf_log_begin(struct tp_ctf_sink *sink)
{
	__atomic_store_n(&open_sinks[sink->slot], sink, __ATOMIC_SEQ_CST);
	tp_message_listen(listen_to_messages);
}

void tp_ctf_log_end(struct tp_ctf_sink *sink)
{
	__atomic_store_n(&open_sinks[sink->slot], NULL, __ATOMIC_SEQ_CST);
	tp_ctf_log_wait();
}

void tp_ctf_log_wait(void)
{
	while (__atomic_load_n(&nr_writing, __ATOMIC_SEQ_CST))
		sched_yield();
}

void tp_ctf_log_forget(void)
{
	__atomic_store_n(&nr_writing, 0, __ATOMIC_SEQ_CST);
}
