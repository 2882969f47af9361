/* SPDX-License-Identifier: MIT */
/* sinks/ctf/ring/copy.c - where records are copied into a packet's file: packet.c says why. */
#include <limits.h>

#include "base/base.h"
#include "base/guard.h"
#include "sinks/ctf/ring/make.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

/*
 * They can't be: what is not in the file is no content. The place is given back, so that records can come there
 * again; but a new packet is tried for first. No signal comes.
 */
static void take_back(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, int error)
{
	struct tp_stream *head = &stream->head;

	stream->packet->broken = true;
	tp_ctf_stream_set_limit(stream, 0);
	head->position = head->published = stream->copied;
	__atomic_store_n(&head->packet->content_size, (stream->copied - head->start) * CHAR_BIT, __ATOMIC_RELEASE);
	__atomic_fetch_add(&head->packet->events_discarded, stream->uncopied, __ATOMIC_RELAXED);
	for (; stream->uncopied; stream->uncopied--)
		tp_sink_count_lost(&sink->head, TP_LOST_NO_FILE);
	tp_ctf_failed(sink, "packet", "written to", error);
}

static int copy(struct tp_ctf_stream *stream)
{
	const uint64_t start = stream->head.start;
	unsigned int nr;
	uint64_t to;

	do { /* a handler's record is in both, or in none */
		nr = __atomic_load_n(&stream->uncopied, __ATOMIC_RELAXED);
		tp_barrier();
		to = stream->head.published;
		tp_barrier();
	} while (__atomic_load_n(&stream->uncopied, __ATOMIC_RELAXED) != nr);
	int error = tp_ctf_packet_copy(stream->packet, (size_t)(stream->copied - start), (size_t)(to - start));
	if (!error) {
		stream->copied = to;
		__atomic_fetch_sub(&stream->uncopied, nr, __ATOMIC_RELAXED);
		stream->packet->broken = false;
	}
	return error;
}

/* Returns whether it was. */
static bool copy_or_take_back(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_guard guard;
	int error = copy(stream);

	if (!error || !tp_guard_enter(&guard))
		return !error;
	error = copy(stream);
	if (error && !tp_ctf_stream_is_busy(stream))
		take_back(sink, stream, error);
	tp_guard_leave(&guard);
	return !error;
}

void tp_ctf_packets_copy(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	const uint64_t start = stream->head.start;
	bool copied;

	/* A handler, in the middle of that: what it has interrupted sees to its record, too, but the process may end before. */
	if (stream->copying) {
		tp_ctf_packet_copy(stream->packet, (size_t)(stream->copied - start), (size_t)(stream->head.published - start));
		return;
	}
	stream->pins++;
	do {
		stream->copying = true; /* no handler takes the packet away, nor back what is in it */
		tp_barrier();
		copied = copy_or_take_back(sink, stream);
		tp_barrier();
		stream->copying = false;
		tp_barrier();
	} while (copied && stream->copied != stream->head.published);
	stream->pins--;
}
