/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/stream.h - a stream, and which thread has which: stream.c.
 */
#ifndef TP_CTF_STREAM_H
#define TP_CTF_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "record/record.h"
#include "record/stream.h"
#include "sinks/ctf/options.h"

struct tp_ctf_packet;
struct tp_ctf_sink;

/*
 * Who is at the stream's ring of packets, what they are, and whether they are held. A stream's thread goes round in it
 * without tp_ctf_lock; everybody else has that lock, too, and its thread then needs no claim.
 *
 *	FREE -> OWNER -> FREE   its thread begins its oldest packet again (packets.c): a few dozen instructions, in which a
 *	                        handler may come: it leaves the stream alone
 *	FREE -> OTHER -> FREE   another thread takes the oldest (room.c), a snapshot holds some (ctf/snapshot.c)
 *	OWNER -> LOST           its thread has ended in such a handler (stream.c): nobody touches the ring any more
 */
enum tp_ctf_claim {
	TP_CTF_FREE,
	TP_CTF_OWNER,
	TP_CTF_OTHER,
	TP_CTF_LOST,
};

struct tp_ctf_stream {
	struct tp_stream head;
	struct tp_ctf_stream *next;      /* of all of the sink */
	struct tp_ctf_stream *next_free; /* of the pool */
	struct tp_ctf_packet *packet;    /* head.packet's; in the ring of those that there are */
	uint64_t sequence;            /* of the next packet's name */
	TP_WHOLE uint64_t packets;    /* that there are */
	uint64_t shown;               /* that there have been */
	uint64_t copied;              /* where records are copied: all before this position is in the file ... */
	unsigned int uncopied;        /* ... and so many records are not */
	unsigned int pins;            /* of handlers' and this thread's: the packet must stay */
	enum tp_ctf_claim claim;
	bool copying;                 /* its thread copies records into the packet's file */
	unsigned int number;
	uint64_t first;               /* of the packets that were shown: the first in this chapter */
	char name[TP_CTF_NAME_SIZE];  /* of the thread */
};

/* False where another has it. */
static inline bool tp_ctf_stream_claim(struct tp_ctf_stream *stream, enum tp_ctf_claim by)
{
	enum tp_ctf_claim is_free = TP_CTF_FREE;

	return __atomic_compare_exchange_n(&stream->claim, &is_free, by, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void tp_ctf_stream_unclaim(struct tp_ctf_stream *stream)
{
	__atomic_store_n(&stream->claim, TP_CTF_FREE, __ATOMIC_RELEASE);
}

/* Its thread, or a handler that has interrupted it there. */
static inline bool tp_ctf_stream_goes_round(const struct tp_ctf_stream *stream)
{
	return __atomic_load_n(&stream->claim, __ATOMIC_RELAXED) == TP_CTF_OWNER;
}

/* Gives the thread a stream: one that an exited thread has left, or a new one. NULL and why not. */
TP_COLD struct tp_ctf_stream *tp_ctf_stream_acquire(struct tp_ctf_sink *sink, enum tp_lost *cause);

/* Records are on their way, in this thread below where it is now. */
static inline bool tp_ctf_stream_is_busy(const struct tp_ctf_stream *stream)
{
	return stream->head.published != tp_stream_load(&stream->head.position);
}

/* There is room for so many bytes by now: a handler has gone on to another packet. */
static inline bool tp_ctf_stream_has_room(const struct tp_ctf_stream *stream, size_t size)
{
	return stream->head.position + TP_STREAM_ALIGN + size <= stream->head.limit;
}

/* All of the stream before this position may be reserved; 0: nothing. */
static inline void tp_ctf_stream_set_limit(struct tp_ctf_stream *stream, uint64_t limit)
{
	tp_barrier(); /* the packet is there before the room in it, and there is no room while it changes */
	__atomic_store_n(&stream->head.limit, limit, __ATOMIC_RELAXED);
	tp_barrier();
}

/* Counts records as lost in the sink and in the stream's packet. */
void tp_ctf_stream_count_lost(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, enum tp_lost cause, uint64_t nr);

/* The name of the thread, for its context. */
void tp_ctf_stream_take_name(struct tp_ctf_stream *stream);

/* Gives the sink a slot. False where all are taken. */
bool tp_ctf_streams_begin(struct tp_ctf_sink *sink);

/* Takes it back, and finishes all packets. */
void tp_ctf_streams_end(struct tp_ctf_sink *sink);

/* In a forked child: the streams are the parent's. */
void tp_ctf_streams_forget(struct tp_ctf_sink *sink);

#endif /* TP_CTF_STREAM_H */
