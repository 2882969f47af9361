/* SPDX-License-Identifier: MIT */
/*
 * ctf.c - the CTF sink: a trace that is written where it is read.
 *
 * Each thread that records has a stream of its own. A stream's packets are
 * files of one packet each, mapped while they are written. A file appears
 * under its name when its head is complete, and each event is taken into its
 * content by a single store, so that whoever reads the directory, at any
 * moment, finds a valid trace.
 *
 * Here is what is done once a sink or once a module: opening, closing, and
 * the file of the metadata. ctf.h says where the rest is.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "ctf.h"

#define PACKET_DEFAULT ((size_t)1 << 20)
#define PACKET_MIN ((size_t)4 << 10)
#define PACKET_MAX ((size_t)1 << 30)

/* ---- The metadata ---- */

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

/* 0 or an errno value. */
static int metadata_write_hidden(const struct ctf_sink *sink, int dir, const char *hidden)
{
	if (!tp_ctf_file_size_allowed(sink->metadata.len))
		return EFBIG;
	/* The name is this process's: what has it was left by a dead one. */
	unlinkat(dir, hidden, 0);
	int fd = openat(dir, hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	int error = write_all(fd, sink->metadata.text, sink->metadata.len);
	if (close(fd) != 0 && !error)
		error = errno;
	if (error)
		unlinkat(dir, hidden, 0);
	return error;
}

/* The file is replaced as a whole, so that a reader never sees half an event's description. 0 or an errno value. */
static int metadata_write(struct ctf_sink *sink)
{
	static const char name[] = "metadata";
	char hidden[32];
	bool first = sink->metadata_written == 0;
	struct tp_guard guard;
	int error = EDEADLK;

	if (!tp_guard_enter(&guard))
		return error;
	/* Of its own, as another process may be making a trace in the same directory. */
	snprintf(hidden, sizeof(hidden), ".%s-%d", name, sink->pid);
	int dir = tp_ctf_dir(sink, &error);
	if (dir >= 0)
		error = metadata_write_hidden(sink, dir, hidden);
	if (dir >= 0 && !error) {
		if (first)
			error = tp_ctf_rename_new(dir, hidden, name);
		else if (renameat(dir, hidden, dir, name) != 0)
			error = errno;
		if (error)
			unlinkat(dir, hidden, 0);
	}
	tp_guard_leave(&guard);
	return error;
}

static int ctf_describe(struct tp_sink *head, const struct tp_event *event)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;
	int error = 0;

	if (bit_is_set(sink->described, event->id) || bit_is_set(sink->pending, event->id))
		return 0;
	if (sink->forked) {
		/* No error: attached, its records are at least counted. */
		if (!sink->child_complained)
			tp_complain("CTF trace '%s': process %d, a forked child, can't add events to its parent's "
				    "trace: the records of '%s:%s' and others that it loads are lost",
				    sink->path, sink->pid, event->system, event->name);
		sink->child_complained = true;
		return 0;
	}
	error = tp_ctf_metadata_event(&sink->metadata, event);
	if (error == -EINVAL)
		tp_complain("CTF trace '%s': '%s:%s' has a dynamic array whose elements are aligned to more than %d "
			    "bytes, for which CTF has no words",
			    sink->path, event->system, event->name, TP_CTF_ALIGN);
	if (!error)
		bit_set(sink->pending, event->id);
	return error;
}

static int ctf_described(struct tp_sink *head)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;

	if (sink->metadata.len == sink->metadata_written)
		return 0;
	int error = metadata_write(sink);
	if (error) {
		if (sink->metadata_written) /* else it is tp_ctf_sink's to tell */
			tp_complain("CTF trace '%s': its metadata can't be written: %s%s", sink->path, strerror(error),
				    tp_ctf_remedy(error));
		sink->metadata.len = sink->metadata_written;
		__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	} else {
		sink->metadata_written = sink->metadata.len;
		for (unsigned int i = 0; i < sizeof(sink->pending); i++)
			__atomic_fetch_or(&sink->described[i], sink->pending[i], __ATOMIC_RELAXED);
	}
	memset(sink->pending, 0, sizeof(sink->pending));
	return -error;
}

/* ---- Forks and closing ---- */

static void ctf_after_fork_child(struct tp_sink *head)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;

	sink->pid = getpid();
	sink->forked = true;
	tp_ctf_streams_forget(sink);
}

static void sink_free(struct ctf_sink *sink)
{
	tp_ctf_dir_close(sink);
	tp_buffer_free(&sink->metadata);
	free(sink->path);
	free(sink);
}

static int ctf_close(struct tp_sink *head)
{
	struct ctf_sink *sink = (struct ctf_sink *)head;
	unsigned long lost = tp_sink_lost(head);

	tp_ctf_streams_end(sink);
	if (lost)
		tp_complain("CTF trace '%s': records lost: %lu", sink->path, lost);
	int error = -sink->error;
	sink_free(sink);
	return error;
}

static const struct tp_sink_ops ctf_ops = {
	.name = "CTF",
	.reserve = tp_ctf_reserve,
	.commit = tp_ctf_commit,
	.lost = tp_ctf_lost,
	.describe = ctf_describe,
	.described = ctf_described,
	.after_fork_child = ctf_after_fork_child,
	.close = ctf_close,
};

/* ---- Opening ---- */

/* "64K"; false where it is no size of a packet. */
static bool parse_size(const char *text, size_t *size)
{
	static const char suffixes[] = "KMG";
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || value > PACKET_MAX)
		return false;
	if (*end && end[1] != '\0')
		return false;
	if (*end) {
		const char *suffix = strchr(suffixes, *end);
		if (!suffix)
			return false;
		value <<= 10 * (suffix - suffixes + 1); /* 2^30 << 30 at the most */
	}
	if (value < PACKET_MIN || value > PACKET_MAX)
		return false;
	*size = (size_t)value;
	return true;
}

static int parse_options(struct ctf_sink *sink, const char *options)
{
	static const char packet[] = "packet=";
	char *copy = strdup(options ? options : "");
	char *rest = copy;
	int error = 0;

	if (!copy)
		return ENOMEM;
	while (*copy && rest && !error) {
		const char *option = strsep(&rest, ",");
		if (strncmp(option, packet, sizeof(packet) - 1) != 0 ||
		    !parse_size(option + sizeof(packet) - 1, &sink->packet_size))
			error = EINVAL;
	}
	free(copy);
	return error;
}

/* The one between two readings of the other is the closest of some tries. */
static uint64_t measure_offset(void)
{
	uint64_t best = UINT64_MAX;
	uint64_t offset = 0;

	for (int i = 0; i < 8; i++) {
		uint64_t before = clock_now(CLOCK_MONOTONIC);
		uint64_t epoch = clock_now(CLOCK_REALTIME);
		uint64_t took = clock_now(CLOCK_MONOTONIC) - before;
		if (took < best) {
			best = took;
			offset = epoch - before - took / 2;
		}
	}
	return offset;
}

static int sink_open(struct ctf_sink *sink, const char *options)
{
	int error = parse_options(sink, options);

	if (!error)
		error = tp_ctf_dir_open(sink);
	if (error)
		return error;
	sink->clock_offset = measure_offset();
	tp_ctf_metadata_begin(&sink->metadata, sink->clock_offset);
	if (sink->metadata.failed)
		return ENOMEM;
	if (!tp_ctf_streams_begin(sink))
		return EMFILE;
	error = -tp_sink_open(&sink->head, &ctf_ops);
	if (error)
		tp_ctf_streams_end(sink);
	return error;
}

struct tp_sink *tp_ctf_sink(const char *dir, const char *options)
{
	struct ctf_sink *sink = dir ? tp_malloc(sizeof(*sink)) : NULL;
	int error;

	if (!sink) {
		errno = dir ? ENOMEM : EINVAL;
		return NULL;
	}
	*sink = (struct ctf_sink){.packet_size = PACKET_DEFAULT, .dir = -1, .pid = getpid()};
	sink->path = strdup(dir);
	error = sink->path ? sink_open(sink, options) : ENOMEM;
	if (!error)
		return &sink->head;
	sink_free(sink);
	errno = error;
	return NULL;
}
