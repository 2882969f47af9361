/* SPDX-License-Identifier: MIT */
/* sinks/ctf/copy.c - where records are copied into a packet's file: packet.c says why. */
#include <limits.h>

#include "base/base.h"
#include "base/guard.h"
#include "sinks/ctf/make.h"
#include "sinks/ctf/packet.h"
#include "sinks/ctf/packets.h"
#include "sinks/ctf/sink.h"
#include "sinks/ctf/stream.h"

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
	const uint64_t start = stream->head.start, to = stream->head.published;
	int error = tp_ctf_packet_copy(stream->packet, (size_t)(stream->copied - start), (size_t)(to - start));

	/* A handler's record that has come meanwhile has been copied by then, or was taken back. */
	if (!error) {
		stream->copied = to;
		stream->uncopied = 0;
		stream->packet->broken = false;
	}
	return error;
}

void tp_ctf_packets_copy(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_guard guard;

	stream->pins++;
	tp_barrier(); /* no handler takes the packet away */
	if (copy(stream) != 0 && tp_guard_enter(&guard)) {
		int error = copy(stream);
		if (error && !tp_ctf_stream_is_busy(stream))
			take_back(sink, stream, error);
		tp_guard_leave(&guard);
	}
	tp_barrier();
	stream->pins--;
}
