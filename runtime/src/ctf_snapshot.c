/* SPDX-License-Identifier: MIT */
/*
 * ctf_snapshot.c - a copy of what a flight recorder holds, as a trace of its own.
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

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "ctf.h"

#define HIDDEN_METADATA ".metadata"
#define NAME_SIZE 64

/* A packet as it was when the snapshot came to its stream. */
struct shot {
	struct ctf_packet *packet;
	uint64_t life;
	uint64_t sequence;
	unsigned int number;
};

struct snapshot {
	struct ctf_sink *sink; /* that is copied */
	struct ctf_sink to;    /* of which only the directory is used */
	struct shot *shots;    /* of a stream, from the oldest to the newest */
	size_t nr, room;
};

/* ---- What a stream has: under tp_ctf_lock ---- */

/* The newest is held from here on: at least that one will be copied. */
static void add_all(struct snapshot *s, const struct ctf_stream *stream)
{
	s->nr = 0;
	for (struct ctf_packet *packet = s->sink->oldest; packet; packet = packet->next) {
		if (packet->stream == stream)
			s->shots[s->nr++] = (struct shot){packet, packet->life, packet->sequence, packet->number};
	}
	struct ctf_packet *packet = stream->packet;
	packet->copied++;
	s->shots[s->nr++] = (struct shot){packet, packet->life, packet->sequence, packet->number};
}

/* There is no malloc under the lock: a recorder that waits for it may have interrupted one. */
static int look(struct snapshot *s, const struct ctf_stream *stream)
{
	struct tp_guard guard;

	for (;;) {
		tp_guard_enter(&guard);
		pthread_mutex_lock(&tp_ctf_lock);
		uint64_t packets = stream->packets;
		if (packets <= s->room)
			add_all(s, stream);
		pthread_mutex_unlock(&tp_ctf_lock);
		tp_guard_leave(&guard);
		if (packets <= s->room)
			return 0;
		free(s->shots);
		s->room = packets + 16;
		s->shots = tp_malloc(s->room * sizeof(*s->shots));
		if (!s->shots)
			return ENOMEM;
	}
}

/* ---- Copying ---- */

/* Keeps the packet as it is; false where it is another by now. */
static bool hold(const struct shot *shot)
{
	pthread_mutex_lock(&tp_ctf_lock);
	bool still = shot->packet->life == shot->life;
	if (still)
		shot->packet->copied++;
	pthread_mutex_unlock(&tp_ctf_lock);
	return still;
}

static void let_go(const struct shot *shot)
{
	pthread_mutex_lock(&tp_ctf_lock);
	shot->packet->copied--;
	pthread_mutex_unlock(&tp_ctf_lock);
}

static int copy_to(const struct shot *shot, int fd)
{
	const struct tp_packet *packet = shot->packet->memory;
	struct tp_packet head;
	uint64_t content = __atomic_load_n(&packet->content_size, __ATOMIC_ACQUIRE) / CHAR_BIT;

	if (!tp_ctf_file_size_allowed(content))
		return EFBIG;
	head = (struct tp_packet){
		.magic = packet->magic,
		.stream_id = packet->stream_id,
		.stream_instance_id = packet->stream_instance_id,
		.timestamp_begin = packet->timestamp_begin,
		.content_size = content * CHAR_BIT,
		/* May be that of later events; not before that of the last one here. */
		.timestamp_end = __atomic_load_n(&packet->timestamp_end, __ATOMIC_ACQUIRE),
		.packet_size = content * CHAR_BIT,
		.packet_seq_num = packet->packet_seq_num,
		.events_discarded = __atomic_load_n(&packet->events_discarded, __ATOMIC_RELAXED),
	};
	int error = tp_ctf_write(fd, &head, sizeof(head));
	return error ? error : tp_ctf_write(fd, packet + 1, content - sizeof(head));
}

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
	error = copy_to(shot, fd);
	if (close(fd) != 0 && !error)
		error = errno;
	if (error)
		unlinkat(dir, name, 0);
	return error;
}

static int copy_stream(struct snapshot *s, const struct ctf_stream *stream)
{
	struct tp_guard guard;
	int error = look(s, stream);
	bool held = !error; /* the newest */

	for (size_t i = s->nr; i-- > 0 && !error;) {
		tp_guard_enter(&guard);
		held = held || hold(&s->shots[i]);
		if (held) {
			error = make_file(s, &s->shots[i]);
			let_go(&s->shots[i]);
		}
		tp_guard_leave(&guard);
		if (!held)
			break;
		held = false;
	}
	return error;
}

/* None is ever taken off the list, and new ones come in front. */
static int copy_all(struct snapshot *s)
{
	struct tp_guard guard;
	int error = 0;

	tp_guard_enter(&guard);
	pthread_mutex_lock(&tp_ctf_lock);
	struct ctf_stream *stream = s->sink->streams;
	pthread_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
	for (; stream && !error; stream = stream->next)
		error = copy_stream(s, stream);
	return error;
}

/* Last: without it, it is no trace yet. */
static int write_metadata(struct snapshot *s)
{
	struct tp_guard guard;
	int error;

	tp_guard_enter(&guard);
	int dir = tp_ctf_dir(&s->to, &error);
	int fd = dir < 0 ? -1 : openat(dir, HIDDEN_METADATA, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (dir >= 0)
		error = fd < 0 ? errno : tp_ctf_metadata_write(s->sink, fd);
	if (fd >= 0 && close(fd) != 0 && !error)
		error = errno;
	if (!error)
		tp_ctf_format_copy(&s->sink->formats, dir); /* without it, it is a trace all the same */
	tp_guard_leave(&guard);
	return error;
}

/* ---- The whole ---- */

/* Nothing else is in the directory: it was empty. */
static void remove_files(const struct snapshot *s)
{
	int copy = openat(s->to.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "stream-", 7) == 0 || strcmp(entry->d_name, HIDDEN_METADATA) == 0)
			unlinkat(s->to.dir, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else if (copy >= 0)
		close(copy);
}

static int take(struct snapshot *s)
{
	int error = copy_all(s);

	free(s->shots);
	tp_lock(&tp_events_lock);
	if (!error)
		error = write_metadata(s);
	tp_unlock(&tp_events_lock);
	if (!error)
		error = tp_ctf_rename_new(s->to.dir, HIDDEN_METADATA, "metadata");
	if (error)
		remove_files(s);
	return error;
}

int tp_ctf_snapshot(struct tp_sink *head, const char *dir)
{
	struct ctf_sink *sink = tp_ctf_sink_of(head);
	struct snapshot s = {.sink = sink, .to = {.dir = -1}};

	if (!sink || !dir)
		return -EINVAL;
	if (!sink->options.flight)
		return -ENOTSUP;
	if (urcu_bp_read_ongoing())
		return -EDEADLK;
	s.to.path = (char *)(uintptr_t)dir;
	int error = tp_ctf_dir_open(&s.to);
	if (!error)
		error = take(&s);
	tp_ctf_dir_close(&s.to);
	return -error;
}
