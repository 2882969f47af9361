/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/stream.h - a thread's stream: a sequence of packets, in chunks of the file: stream.c.
 */
#ifndef TP_PERFETTO_STREAM_H
#define TP_PERFETTO_STREAM_H

#include "base/base.h"
#include "sinks/perfetto/fields.h"
#include "sinks/perfetto/file.h"
#include "sinks/perfetto/sink.h"

/* Sinks that can be open at once: each has a slot in every thread's local storage, of which there is little. */
#define TP_PERFETTO_SINKS 8

/* Tracks that a stream knows as described. */
#define TP_PERFETTO_TRACKS 64

#define TP_PERFETTO_NAME_SIZE 16

/*
 * Only the thread that has it touches it, and its signal handlers. What a handler may change is read and written as a whole.
 */
struct tp_perfetto_stream {
	struct tp_perfetto_stream *next;      /* of all of the sink, or of those that are not used */
	struct tp_perfetto_stream *next_free; /* of the pool */
	struct tp_perfetto_chunk chunk;
	uint64_t position;     /* in the chunk: all before it is taken ... */
	uint64_t finished;     /* ... and so many bytes of it have their packet; all, where none is on its way */
	uintptr_t frame;       /* where the outermost is put that is on its way; 0: none is */
	unsigned int inside;   /* how many were put inside of it */
	uint64_t copied;       /* where packets are copied into the file: those in front of that are there */
	bool has_begun;        /* the sequence; false, too, where names that were told are lost */
	uint32_t endings;      /* how often it has ended: what was told before the last time does not count */
	bool broken;           /* what is copied can't be, from now on */
	uint32_t sequence;
	uint64_t uuid;         /* of the track of its thread */
	char name[TP_PERFETTO_NAME_SIZE]; /* of the thread, as it was described */
	unsigned long lost;    /* records that the trace does not tell of yet ... */
	unsigned long telling; /* ... but a packet that is on its way */
	uint64_t tracks[TP_PERFETTO_TRACKS]; /* that are described, each at a place that its number says */
	uint8_t told[TP_NR_IDS / CHAR_BIT]; /* events whose names are told */
};

struct tp_perfetto_slot {
	uint64_t key;
	struct tp_perfetto_stream *stream;
};

extern TP_THREAD_LOCAL struct tp_perfetto_slot tp_perfetto_slots[TP_PERFETTO_SINKS];

/* NULL: it has none, and tp_perfetto_stream_acquire() may get it one. */
static inline struct tp_perfetto_stream *tp_perfetto_stream_of_thread(const struct tp_perfetto_sink *sink)
{
	const struct tp_perfetto_slot *slot = &tp_perfetto_slots[sink->slot];

	return slot->key == __atomic_load_n(&sink->key, __ATOMIC_RELAXED) ? slot->stream : NULL;
}

/* A packet of the stream, in memory. */
static inline size_t tp_perfetto_packet_begin(struct tp_proto *proto, const struct tp_perfetto_stream *stream, uint64_t time, uint64_t flags)
{
	const size_t packet = tp_proto_begin(proto, TP_TRACE_PACKET);

	tp_proto_number(proto, TP_PACKET_TIMESTAMP, time);
	tp_proto_number(proto, TP_PACKET_SEQUENCE_ID, stream->sequence);
	tp_proto_number(proto, TP_PACKET_SEQUENCE_FLAGS, flags);
	return packet;
}

/* ---- Tracks ---- */

enum tp_perfetto_uuid { TP_UUID_PROCESS = 4, TP_UUID_THREAD, TP_UUID_OTHER };

/* A track's number in the trace; tp convert has others. Ids of processes and threads have 22 bits. */
static inline uint64_t tp_perfetto_uuid(enum tp_perfetto_uuid kind, uint64_t number)
{
	return (uint64_t)kind << 60 | (number & (UINT64_MAX >> 4));
}

static inline uint64_t tp_perfetto_uuid_of_process(int pid)
{
	return tp_perfetto_uuid(TP_UUID_PROCESS, (uint32_t)pid);
}

/* NULL: *cause says why. Safe in signal handlers, as is the next one. */
struct tp_perfetto_stream *tp_perfetto_stream_acquire(struct tp_perfetto_sink *sink, enum tp_lost *cause);

/* The thread's stream goes on in a chunk with room for so many bytes. TP_NR_LOST, or why not. */
enum tp_lost tp_perfetto_stream_go_on(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, size_t size);

/* False: there are as many sinks as there can be. After the end, no thread has a stream of the sink. */
bool tp_perfetto_streams_begin(struct tp_perfetto_sink *sink);
void tp_perfetto_streams_end(struct tp_perfetto_sink *sink);

/* In a forked child: they are the parent's. What this thread is writing goes where nobody sees it. */
void tp_perfetto_streams_forget(struct tp_perfetto_sink *sink);

#endif /* TP_PERFETTO_STREAM_H */
