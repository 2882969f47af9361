/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/snapshot.c - a copy of what a flight recorder holds, as a trace of its own.
 *
 * The threads go on recording meanwhile, and write into their oldest packets
 * again. So of each stream the newest is copied first, and where one is
 * gone, nothing older is left: there is no gap. A packet that is being
 * copied stays as it is; a thread that would have taken it makes a new one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/hit.h"
#include "base/text.h"
#include "sinks/ctf/ctf.h"
#include "sinks/ctf/describe/describe.h"
#include "sinks/ctf/describe/format.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

#define HIDDEN_METADATA ".metadata-of-snapshot"
#define NAME_SIZE 64

/* A packet as it was when the snapshot came to its stream. */
struct shot {
	struct tp_ctf_packet *packet;
	uint64_t seq_num;  /* in its head: another one is another packet by now */
	uint64_t sequence; /* and number: for the file's name */
	unsigned int number;
	bool held; /* its packet stays as it is */
};

struct snapshot {
	struct tp_ctf_sink *sink; /* that is copied */
	struct tp_ctf_sink to;    /* of which only the directory is used */
	int metadata;          /* its file */
	struct shot *shots;    /* of a stream, from the oldest to the newest */
	size_t nr, room;
};

/* -1, which makes its user fail, where the program has closed it. */
static int to_dir(const struct snapshot *s)
{
	return tp_guarded_fd_descriptor(&s->to.first_dir.fd);
}

/* ---- Holding packets, so that they stay as they are: the stream's ring is claimed ---- */

#define PATIENCE_US 1000000u
#define NAP_US 100u

/* Its thread may have been interrupted while it goes round. 0; EBUSY, where that takes too long; ESRCH: it has ended there. */
static int claim(struct tp_ctf_stream *stream, struct tp_guard *guard)
{
	for (unsigned int us = 0; us < PATIENCE_US; us += NAP_US) {
		tp_guard_enter(guard);
		tp_mutex_lock(&tp_ctf_lock);
		if (tp_ctf_stream_claim(stream, TP_CTF_OTHER))
			return 0;
		const bool lost = stream->claim == TP_CTF_LOST;
		tp_mutex_unlock(&tp_ctf_lock);
		tp_guard_leave(guard);
		if (lost)
			return ESRCH;
		usleep(NAP_US);
	}
	return EBUSY;
}

static void unclaim(struct tp_ctf_stream *stream, const struct tp_guard *guard)
{
	tp_ctf_stream_unclaim(stream);
	tp_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(guard);
}

/* Not one that is another by now, or is about to become one. */
static bool hold(struct shot *shot, const struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *packet = shot->packet;

	shot->held = packet->state != TP_CTF_EMPTY && packet->stream == stream && packet->memory->packet_seq_num == shot->seq_num;
	__atomic_fetch_add(&packet->held, shot->held, __ATOMIC_RELAXED);
	return shot->held;
}

/* Whoever is at the ring finds it free a little earlier, or later. */
static void let_go(struct shot *shot)
{
	if (shot->held)
		__atomic_fetch_sub(&shot->packet->held, 1, __ATOMIC_RELEASE);
	shot->held = false;
}

static void add_shot(struct snapshot *s, struct tp_ctf_packet *packet)
{
	s->shots[s->nr++] = (struct shot){packet, packet->memory->packet_seq_num, packet->sequence, packet->number, false};
}

/* The newest two are held from here on: at least they will be copied, of which one may just have been begun. */
static void add_all(struct snapshot *s, const struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *current = stream->packet;

	for (struct tp_ctf_packet *packet = current->next; packet != current; packet = packet->next)
		add_shot(s, packet);
	if (current->state != TP_CTF_EMPTY) /* it is being begun again: there is nothing in it */
		add_shot(s, current);
	for (size_t i = s->nr; i-- > 0 && i + 2 >= s->nr;)
		hold(&s->shots[i], stream);
}

/* There is no malloc under the lock: a recorder that waits for it may have interrupted one. */
static int look(struct snapshot *s, struct tp_ctf_stream *stream)
{
	struct tp_guard guard;
	int error;

	s->nr = 0;
	while (!(error = claim(stream, &guard))) {
		size_t packets = (size_t)stream->packets; /* that it has now; memory has no room for more */
		if (packets <= s->room)
			add_all(s, stream);
		unclaim(stream, &guard);
		if (packets <= s->room)
			return 0;
		free(s->shots);
		s->room = packets + 16;
		s->shots = tp_malloc(s->room * sizeof(*s->shots));
		if (!s->shots)
			return ENOMEM;
	}
	return error;
}

/* ---- Copying ---- */

static void shot_name(const struct snapshot *s, const struct shot *shot, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "stream-%d-%u-%llu", s->sink->pid, shot->number, (unsigned long long)shot->sequence);
}

static int make_file(struct snapshot *s, const struct shot *shot)
{
	char name[NAME_SIZE];
	int error;

	shot_name(s, shot, name);
	int dir = tp_ctf_dir(&s->to, &error);
	if (dir < 0)
		return error;
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return errno;
	error = tp_ctf_packet_write(shot->packet->memory, fd, dir, name);
	if (close(fd) != 0 && !error)
		error = errno;
	if (error)
		unlinkat(dir, name, 0);
	return error;
}

static int copy_stream(struct snapshot *s, struct tp_ctf_stream *stream)
{
	struct tp_guard guard;
	int error = look(s, stream);
	bool gone = false;

	for (size_t i = s->nr; i-- > 0;) {
		struct shot *shot = &s->shots[i];
		if (!gone && !error && !shot->held) {
			error = claim(stream, &guard);
			gone = error || !hold(shot, stream);
			if (!error)
				unclaim(stream, &guard);
		}
		if (!gone && !error) {
			tp_guard_enter(&guard);
			error = make_file(s, shot);
			tp_guard_leave(&guard);
		}
		let_go(shot);
	}
	return error == ESRCH ? 0 : error;
}

/* None is ever taken off the list, and new ones come in front. */
static int copy_all(struct snapshot *s)
{
	struct tp_guard guard;
	int error = 0;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_stream *stream = s->sink->ring.streams;
	tp_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
	for (; stream && !error; stream = stream->next)
		error = copy_stream(s, stream);
	return error;
}

/* Its file says who has the directory until, last, there is something in it and it gets its name: then it is a trace. */
static int begin_metadata(struct snapshot *s)
{
	s->metadata = openat(to_dir(s), HIDDEN_METADATA, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->metadata < 0)
		return errno;
	/* Another may have been made since the directory was seen to be empty. */
	if (faccessat(to_dir(s), "metadata", F_OK, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	close(s->metadata);
	unlinkat(to_dir(s), HIDDEN_METADATA, 0);
	return EEXIST;
}

static int write_metadata(struct snapshot *s)
{
	struct tp_guard guard;

	tp_lock(&tp_events_lock);
	tp_guard_enter(&guard);
	int error = tp_ctf_metadata_write(s->sink, s->metadata);
	if (!error)
		tp_ctf_format_copy(&s->sink->events.formats, to_dir(s)); /* without it, it is a trace all the same */
	tp_guard_leave(&guard);
	tp_unlock(&tp_events_lock);
	if (close(s->metadata) != 0 && !error)
		error = errno;
	return error ? error : tp_ctf_rename_new(to_dir(s), HIDDEN_METADATA, "metadata");
}

/* ---- The whole ---- */

/* Nobody else has made any: the directory was empty, and was ours. */
static void remove_files(const struct snapshot *s)
{
	int copy = openat(to_dir(s), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "stream-", 7) == 0 || strcmp(entry->d_name, HIDDEN_METADATA) == 0)
			unlinkat(to_dir(s), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

static int take(struct snapshot *s)
{
	struct tp_guard guard;
	int error = begin_metadata(s);

	if (error) /* another snapshot is made here */
		return error;
	tp_guard_enter(&guard);
	tp_ctf_describe_better(s->sink);
	tp_guard_leave(&guard);
	error = copy_all(s);
	if (!error)
		error = write_metadata(s);
	else
		close(s->metadata);
	free(s->shots);
	if (error)
		remove_files(s);
	return error;
}

/* 0, or an errno value. */
static int check(const struct tp_ctf_sink *sink, const char *name)
{
	if (!sink || !name)
		return EINVAL;
	if (!sink->options.flight)
		return ENOTSUP;
	return tp_reading() ? EDEADLK : 0;
}

int tp_ctf_snapshot(struct tp_sink *head, const char *dir)
{
	struct tp_ctf_sink *sink = tp_ctf_sink_of(head);
	struct snapshot s = {.sink = sink, .to = {.dirs = &s.to.first_dir, .first_dir.fd = TP_GUARDED_FD_NONE}};
	int error = check(sink, dir);

	if (error)
		return -error;
	s.to.path = strdup(dir);
	error = s.to.path ? tp_ctf_dir_open(&s.to) : ENOMEM;
	if (!error)
		error = take(&s);
	tp_ctf_dir_close(&s.to);
	free(s.to.path);
	return -error;
}

/* Nothing is ever said of the copy's directory: so its name is not kept. */
int tp_ctf_snapshot_in(struct tp_sink *head, int dir, const char *name)
{
	struct tp_ctf_sink *sink = tp_ctf_sink_of(head);
	struct snapshot s = {.sink = sink, .to = {.dirs = &s.to.first_dir, .first_dir.fd = TP_GUARDED_FD_NONE}};
	int error = check(sink, name);

	if (error) {
		close(dir);
		return -error;
	}
	error = tp_ctf_dir_take(&s.to, dir);
	if (!error)
		error = take(&s);
	tp_ctf_dir_close(&s.to);
	return -error;
}
