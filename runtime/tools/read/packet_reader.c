/* SPDX-License-Identifier: MIT */
/*
 * packet_reader.c - walks through a packet. It is not mapped: somebody may cut it off at
 * any moment, and that would be a SIGBUS; its bytes, unlike its size, don't change any more.
 */
#include "read/packet_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/packet.h"
#include "tell.h"

/* Some of the longest events. */
#define WINDOW_SIZE ((size_t)1 << 20)

bool packet_reader_init(struct packet_reader *reader)
{
	reader->window = malloc(WINDOW_SIZE);
	return reader->window || tell_no_memory();
}

void packet_reader_free(struct packet_reader *reader)
{
	free(reader->window);
	reader->window = NULL;
}

/*
 * A flight recorder may have begun the packet anew meanwhile: then that is what
 * is to be told, and not what seems to be wrong with it.
 */
static bool damaged(const struct packet_reader *reader, uint64_t offset, const char *what)
{
	return trace_dir_is_still(reader->dir, reader->packet, reader->fd) &&
	       tell("'%s/%s' is damaged: at offset %llu %s", reader->dir->path, reader->packet->name,
		    (unsigned long long)offset, what);
}

/* Moves the window there. */
static bool load(struct packet_reader *reader, uint64_t begin)
{
	uint64_t left = reader->packet->content - begin;
	size_t size = left < WINDOW_SIZE ? (size_t)left : WINDOW_SIZE;

	reader->window_begin = begin;
	reader->window_len = 0;
	while (reader->window_len < size) {
		ssize_t n = pread(reader->fd, reader->window + reader->window_len, size - reader->window_len,
				  (off_t)(begin + reader->window_len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tell("'%s/%s' can't be read: %s", reader->dir->path, reader->packet->name, strerror(errno));
		if (n == 0)
			return damaged(reader, begin + reader->window_len, "it ends, before its content does");
		reader->window_len += (size_t)n;
	}
	return true;
}

/* So many bytes from offset on, at most WINDOW_SIZE; NULL, and a message, where they are not all content. */
static const unsigned char *bytes(struct packet_reader *reader, uint64_t offset, uint64_t size)
{
	if (offset > reader->packet->content || size > reader->packet->content - offset) {
		damaged(reader, offset, "an event begins that is longer than what is left of the packet's content");
		return NULL;
	}
	if (offset < reader->window_begin || offset + size > reader->window_begin + reader->window_len) {
		if (!load(reader, offset))
			return NULL;
	}
	return reader->window + (offset - reader->window_begin);
}

static bool check_time(struct packet_reader *reader, uint64_t offset, uint64_t ticks)
{
	if (ticks < reader->ticks)
		return damaged(reader, offset, "an event is older than the one before it");
	reader->ticks = ticks;
	return true;
}

static bool unknown(const struct packet_reader *reader, uint64_t offset, uint32_t id)
{
	return trace_dir_is_still(reader->dir, reader->packet, reader->fd) &&
	       tell("'%s/%s': the event at offset %llu has the ID %u, which is in no file of '%s/format'; if these are "
		    "incomplete, the program that recorded the trace has said why", reader->dir->path,
		    reader->packet->name, (unsigned long long)offset, id, reader->dir->path);
}

/* Reads the event at offset. Returns the offset of its end, or 0. */
static uint64_t read_event(struct packet_reader *reader, uint64_t offset, struct event *event)
{
	const uint32_t head = reader->metadata->record_offset;
	const unsigned char *at = bytes(reader, offset, head + RECORD_HEAD);
	uint64_t ticks;
	uint16_t id;

	if (!at)
		return 0;
	memcpy(&ticks, at, sizeof(ticks));
	memcpy(&id, at + head, sizeof(id));
	const struct event_format *format = reader->formats->by_id[id];
	if (!format) {
		unknown(reader, offset, id);
		return 0;
	}
	at = bytes(reader, offset, head + format->fixed);
	if (!at || !check_time(reader, offset, ticks))
		return 0;
	uint64_t size = format_record_size(format, at + head);
	if (size > RECORD_MAX) {
		damaged(reader, offset, "an event has a payload outside of what a record can be");
		return 0;
	}
	at = bytes(reader, offset, head + size);
	if (!at)
		return 0;
	event->time = metadata_time(reader->metadata, ticks);
	event->record = at + head;
	event->size = (uint32_t)size;
	memcpy(&event->tid, event->record + sizeof(uint32_t), sizeof(event->tid));
	event->name = reader->metadata->name_offset ? (const char *)at + reader->metadata->name_offset : NULL;
	return offset + head + size;
}

static bool read_events(struct packet_reader *reader, event_fn fn, void *data)
{
	uint64_t offset = sizeof(struct tp_packet);
	struct event event;

	for (;;) {
		offset = (offset + TP_STREAM_ALIGN - 1) & ~(uint64_t)(TP_STREAM_ALIGN - 1);
		if (offset >= reader->packet->content)
			return true;
		offset = read_event(reader, offset, &event);
		if (!offset || !fn(data, &event))
			return false;
	}
}

bool packet_read(struct packet_reader *reader, const struct packet *packet, bool first, event_fn fn, void *data)
{
	reader->packet = packet;
	reader->window_begin = 0;
	reader->window_len = 0;
	if (first)
		reader->ticks = 0;
	reader->fd = trace_dir_open_packet(reader->dir, packet);
	if (reader->fd < 0)
		return false;
	bool good = trace_dir_is_still(reader->dir, packet, reader->fd) && read_events(reader, fn, data) &&
		    trace_dir_is_still(reader->dir, packet, reader->fd);
	close(reader->fd);
	return good;
}
