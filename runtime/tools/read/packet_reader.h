/* SPDX-License-Identifier: MIT */
/* packet_reader.h - the events of a packet, one after the other. */
#ifndef PACKET_READER_H
#define PACKET_READER_H

#include "read/formats.h"
#include "read/metadata.h"
#include "read/trace_dir.h"

/* The longest record, as the runtime has it: offsets in it and lengths have 16 bits. */
#define RECORD_MAX 65535u

struct event {
	uint64_t time;               /* nanoseconds from the epoch; never less than that of the event before */
	const unsigned char *record; /* until the next event is read */
	uint32_t size;
	int32_t tid;
	const char *name; /* of the thread, COMM_SIZE bytes that need not end in a NUL; or NULL */
};

/* False where the reader is to stop, which has been explained. */
typedef bool (*event_fn)(void *data, const struct event *event);

struct packet_reader {
	const struct trace_dir *dir;
	const struct metadata *metadata;
	const struct formats *formats;

	const struct packet *packet;
	int fd;
	uint64_t ticks; /* of the last event */

	/* What is in memory of the file. */
	unsigned char *window;
	uint64_t window_begin;
	size_t window_len;
};

bool packet_reader_init(struct packet_reader *reader);
void packet_reader_free(struct packet_reader *reader);

/* Calls fn for each event; they are not older than those of the packet before, unless this is the first of a stream. */
bool packet_read(struct packet_reader *reader, const struct packet *packet, bool first, event_fn fn, void *data);

#endif /* PACKET_READER_H */
