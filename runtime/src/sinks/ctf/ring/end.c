/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/end.c - the end of a stream's packets: the sink is closed; or this is a
 * forked child, and they are its parent's.
 */
#include <string.h>
#include <sys/mman.h>

#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

/* Returns 1 where its file is not there any more. */
static unsigned int finish(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	if (!packet->memory) /* it is finished */
		return 0;
	const bool removed = sink->options.flight && tp_ctf_packet_is_removed(sink, packet);
	tp_ctf_packet_finish(sink, packet);
	return removed;
}

unsigned int tp_ctf_packets_end_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	unsigned long homeless = tp_ctf_take_homeless(sink);
	unsigned int removed = 0;

	if (homeless)
		__atomic_fetch_add(&stream->head.packet->events_discarded, homeless, __ATOMIC_RELAXED);
	for (struct tp_ctf_packet *packet = tp_ctf_oldest(stream); packet; packet = tp_ctf_oldest(stream)) {
		stream->packet->next = packet->next;
		removed += finish(sink, packet);
	}
	return removed + finish(sink, stream->packet);
}

/* ---- Forks ---- */

/* In the packet's place the child gets memory of its own, with what a record on its way has in it already. */
static void replace_packet(const struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet, size_t used)
{
	size_t size = sink->options.packet;
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return;
	memcpy(copy, packet->memory, used);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, packet->memory) == MAP_FAILED)
		munmap(copy, size);
}

/* The memory is the child's by itself. */
static void drop_file(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	munmap(packet->file, sink->options.packet);
	packet->file = NULL;
}

void tp_ctf_packets_forget_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool own)
{
	const struct tp_stream *head = &stream->head;
	/* A handler forks. While its thread goes round there is no record on its way, and the positions may be of two packets. */
	const bool goes_round = tp_ctf_stream_goes_round(stream);
	const size_t used = tp_ctf_stream_is_busy(stream) && !goes_round ? (size_t)(head->position - head->start) : 0;

	for (struct tp_ctf_packet *packet = tp_ctf_oldest(stream); packet; packet = tp_ctf_oldest(stream)) {
		stream->packet->next = packet->next;
		if (own && goes_round) {
			replace_packet(sink, packet, 0);
			continue;
		}
		tp_ctf_packet_unmap(sink, packet);
		tp_ctf_packet_forget(sink, packet);
	}
	if (own && sink->copies)
		drop_file(sink, stream->packet);
	else if (own)
		replace_packet(sink, stream->packet, used);
	else
		tp_ctf_packet_unmap(sink, stream->packet);
}

static void forget_all(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	while (packet) {
		struct tp_ctf_packet *next = packet->next;
		tp_ctf_packet_unmap(sink, packet);
		tp_ctf_packet_forget(sink, packet);
		packet = next;
	}
}

/* In a child, which has one thread. */
void tp_ctf_packets_forget(struct tp_ctf_sink *sink)
{
	tp_ctf_watch_stop(sink);
	forget_all(sink, sink->ring.full);
	forget_all(sink, sink->ring.empty);
	sink->ring.full = sink->ring.empty = NULL;
	sink->ring.room = 0;
	sink->ring.nr_streams = 0;
	sink->ring.homeless = 0;
}
