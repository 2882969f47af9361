/* SPDX-License-Identifier: MIT */
/*
 * packet_reader.c - walks through a packet. It is not mapped: somebody may cut it off at any moment, and that would be a
 * SIGBUS. A piece of it is read at a time, and then the file is still that packet: a flight recorder that begins it anew
 * changes its head first. So the file need not stay open, and there may be more streams than descriptors.
 */
#include "read/packet_reader.h"

#include <stdlib.h>
#include <string.h>

#include "record/packet.h"
#include "fail_msg.h"

struct packet_reader packet_reader_of(const struct trace *trace, size_t window_wanted)
{
	return (struct packet_reader){.trace = trace, .window_wanted = window_wanted};
}

void packet_reader_free(struct packet_reader *reader)
{
	free(reader->window);
	reader->window = NULL;
	reader->window_size = 0;
	reader->window_len = 0;
}

static bool damaged(const struct packet_reader *reader, uint64_t offset, const char *what)
{
	return fail_msg("'%s/%s' is damaged: at offset %llu %s", reader->trace->dir.folder.path, reader->packet->name,
		    (unsigned long long)offset, what);
}

/* Room for so many bytes. */
static bool make_window(struct packet_reader *reader, size_t size)
{
	if (size <= reader->window_size)
		return true;
	free(reader->window);
	reader->window = malloc(size);
	reader->window_size = reader->window ? size : 0;
	return reader->window || fail_no_memory();
}

/* Moves the window to begin, where at least size bytes of content are. */
static bool load(struct packet_reader *reader, uint64_t begin, size_t size)
{
	const uint64_t left = reader->packet->content - begin;

	if (size < reader->window_wanted)
		size = left < reader->window_wanted ? (size_t)left : reader->window_wanted;
	reader->window_begin = begin;
	reader->window_len = 0;
	if (!make_window(reader, size))
		return false;
	ssize_t n = trace_dir_read(&reader->trace->dir, reader->packet, reader->window, size, begin);
	if (n < 0)
		return false;
	if ((size_t)n < size)
		return damaged(reader, begin + (uint64_t)n, "it ends, before its content does");
	reader->window_len = size;
	return true;
}

static bool load_content(struct packet_reader *reader, uint64_t offset, uint64_t size)
{
	if (offset > reader->packet->content || size > reader->packet->content - offset)
		return damaged(reader, offset, "an event begins that is longer than what is left of the packet's content");
	return load(reader, offset, (size_t)size);
}

/* So many bytes from offset on; NULL, and a message, where they are not all content. */
static inline const unsigned char *bytes(struct packet_reader *reader, uint64_t offset, uint64_t size)
{
	const uint64_t at = offset - reader->window_begin; /* far behind the window, if it is in front of it */

	if ((at >= reader->window_len || size > reader->window_len - at) && !load_content(reader, offset, size))
		return NULL;
	return reader->window + (offset - reader->window_begin);
}

static bool check_time(struct packet_reader *reader, uint64_t offset, uint64_t ticks)
{
	if (ticks < reader->ticks)
		return damaged(reader, offset, "an event is older than the one before it");
	reader->ticks = ticks;
	return true;
}

static void unknown(const struct packet_reader *reader, uint32_t id)
{
	const char *path = reader->trace->dir.folder.path;

	fail_msg("'%s/%s': the event at offset %llu has the ID %u, which is in no file of '%s/format'; if these are "
	     "incomplete, the program that recorded the trace has said why", path, reader->packet->name,
	     (unsigned long long)reader->offset, id, path);
}

/* The number of the event that begins there; without one, the other. */
static int32_t context(const unsigned char *at, uint32_t offset, int32_t other)
{
	if (offset)
		memcpy(&other, at + offset, sizeof(other));
	return other;
}

/* The event begins at at, and all of it is there. */
static void fill_in(const struct packet_reader *reader, struct event *event, const unsigned char *at, uint32_t size)
{
	const struct metadata *m = &reader->trace->metadata;

	event->time = metadata_time(m, reader->ticks);
	event->record = at + m->record_offset;
	event->size = size;
	event->tid = context(event->record, sizeof(uint32_t), 0);
	event->pid = context(at, m->pid_offset, reader->packet->pid);
	event->cpu = context(at, m->cpu_offset, -1);
	event->name = m->name_offset ? (const char *)at + m->name_offset : m->process;
}

/* Reads the event at the reader's offset, and moves that behind it. */
static bool read_event(struct packet_reader *reader, struct event *event)
{
	const uint64_t offset = reader->offset;
	const uint32_t head = reader->trace->metadata.record_offset;
	const unsigned char *at = bytes(reader, offset, head + RECORD_HEAD);
	uint64_t ticks;
	uint16_t id;

	if (!at)
		return false;
	memcpy(&ticks, at, sizeof(ticks));
	memcpy(&id, at + head, sizeof(id));
	event->format = reader->trace->formats.by_id[id];
	if (!event->format) {
		unknown(reader, id);
		return false;
	}
	at = bytes(reader, offset, head + event->format->fixed);
	if (!at || !check_time(reader, offset, ticks))
		return false;
	uint64_t size = format_record_size(event->format, at + head);
	if (size > RECORD_MAX)
		return damaged(reader, offset, "an event has payloads that are no part of a record");
	at = bytes(reader, offset, head + size);
	if (!at)
		return false;
	fill_in(reader, event, at, (uint32_t)size);
	reader->offset = offset + head + size;
	return true;
}

void packet_begin(struct packet_reader *reader, const struct packet *packet, bool first)
{
	reader->packet = packet;
	reader->offset = sizeof(struct tp_packet);
	reader->window_begin = 0;
	reader->window_len = 0;
	if (first)
		reader->ticks = 0;
}

enum packet_result packet_next(struct packet_reader *reader, struct event *event)
{
	reader->offset = (reader->offset + TP_STREAM_ALIGN - 1) & ~(uint64_t)(TP_STREAM_ALIGN - 1);
	if (reader->offset >= reader->packet->content)
		return PACKET_END;
	return read_event(reader, event) ? PACKET_EVENT : PACKET_BAD;
}
