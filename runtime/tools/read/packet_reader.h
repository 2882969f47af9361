/* SPDX-License-Identifier: MIT */
/* packet_reader.h - the events of a packet, one after the other. */
#ifndef PACKET_READER_H
#define PACKET_READER_H

#include "read/trace.h"

/* The longest record, as the runtime has it: offsets in it and lengths have 16 bits. */
#define RECORD_MAX 65535u

struct event {
	uint64_t time;               /* nanoseconds from the epoch; never less than that of the event before */
	const struct event_format *format;
	const unsigned char *record; /* until the next event is read */
	uint32_t size;
	int32_t tid;
	int32_t pid;
	int32_t cpu;      /* -1: not recorded */
	const char *name; /* of the thread or else the process, COMM_SIZE bytes that need not end in a NUL; as the record */
};

/* One a stream. It holds no descriptor. */
struct packet_reader {
	const struct trace *trace;
	size_t window_wanted; /* bytes of the file in memory; an event that is longer gets more */

	const struct packet *packet;
	uint64_t offset; /* of the next event */
	uint64_t ticks;  /* of the last event */

	/* What is in memory of the file. */
	unsigned char *window;
	size_t window_size, window_len;
	uint64_t window_begin;
};

enum packet_result {
	PACKET_EVENT,
	PACKET_END,
	PACKET_BAD, /* a message has said why */
};

struct packet_reader packet_reader_of(const struct trace *trace, size_t window_wanted);
void packet_reader_free(struct packet_reader *reader);

/* The packet's events are not older than those of the packet before, unless this is the first of a stream. */
void packet_begin(struct packet_reader *reader, const struct packet *packet, bool first);
enum packet_result packet_next(struct packet_reader *reader, struct event *event);

#endif /* PACKET_READER_H */
