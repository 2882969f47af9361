/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/packets.c - a stream's packets, one after the other: the next becomes the
 * current one, and what becomes of the one before.
 */
#include <errno.h>

#include "base/base.h"
#include "sinks/ctf/make.h"
#include "sinks/ctf/packet.h"
#include "sinks/ctf/packets.h"
#include "sinks/ctf/room.h"
#include "sinks/ctf/sink.h"
#include "sinks/ctf/stream.h"

/* Gives the packet its head and its name. *carried: the losses of the one before that are in it. */
static int begin(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet, unsigned long homeless,
		 uint64_t *carried)
{
	const bool in_new_chapter = stream->chapter != sink->chapter;

	*carried = stream->packet ? stream->packet->memory->events_discarded : 0;
	if (in_new_chapter)
		stream->first = stream->shown;
	/* Not before the end of the old one. */
	packet->begin = tp_stream_time(&stream->head, tp_clock_now(&sink->clock));
	return tp_ctf_packet_begin(sink, packet, (in_new_chapter ? 0 : *carried) + homeless);
}

/* The same. 0 or an error, and then it is gone. */
static int show(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet, uint64_t *carried)
{
	unsigned long homeless = tp_ctf_take_homeless(sink);
	int error = begin(sink, stream, packet, homeless, carried);

	if (!error)
		return 0;
	__atomic_fetch_add(&sink->homeless, homeless, __ATOMIC_RELAXED);
	if (packet != stream->packet) {
		tp_ctf_packet_remove(sink, packet, true);
		tp_ctf_room_give_back(sink, packet);
	}
	if (error != EEXIST)
		tp_ctf_failed(sink, "new packet", "made", error);
	return error;
}

void tp_ctf_packets_close(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	size_t unused = sink->options.flight ? 0 : tp_ctf_packet_finish(sink, packet);

	tp_mutex_lock(&tp_ctf_lock);
	packet->room -= unused;
	__atomic_fetch_sub(&sink->room, unused, __ATOMIC_RELAXED);
	if (sink->options.flight || sink->options.overwrite)
		packet->state = TP_CTF_CLOSED;
	else
		tp_ctf_packet_forget(sink, packet);
	tp_mutex_unlock(&tp_ctf_lock);
}

/* Somebody else is to prepare the stream's next packet, and to close the old one, unless that may have to go soon. */
static bool leave_to_preparer(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *old)
{
	bool leave = old && !sink->options.overwrite && !sink->options.flight;

	tp_mutex_lock(&tp_ctf_lock);
	stream->wants_packet = true;
	if (leave) {
		old->next = NULL;
		*sink->full_end = old;
		sink->full_end = &old->next;
	}
	tp_mutex_unlock(&tp_ctf_lock);
	tp_helper_thread_wake(&sink->preparer);
	return leave;
}

/* The packet becomes the stream's current one; its head has been written. There is no place in it before the limit is set. */
static void make_current(const struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet,
			 const struct tp_ctf_packet *old, uint64_t carried)
{
	struct tp_stream *head = &stream->head;

	packet->state = TP_CTF_CURRENT;
	stream->packet = packet;
	stream->shown++;
	head->packet = packet->memory;
	tp_barrier(); /* what handlers lose from here on, they count there */
	if (old) /* what was lost since the new one got its head */
		__atomic_fetch_add(&packet->memory->events_discarded, old->memory->events_discarded - carried,
				   __ATOMIC_RELAXED);
	if (stream->shown > 1)
		head->start += sink->options.packet;
	head->base = (uintptr_t)head->packet - (uintptr_t)head->start;
	head->published = head->start + sizeof(struct tp_packet);
	__atomic_store_n(&head->position, head->published, __ATOMIC_RELAXED);
	stream->copied = head->published;
}

/* Behind the one that was the newest; where closed ones are left to their readers, alone. */
static void link_in(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, struct tp_ctf_packet *old)
{
	if (old && (sink->options.overwrite || sink->options.flight)) {
		packet->next = old->next;
		old->next = packet;
	} else {
		packet->next = packet;
	}
}

static void switch_packet(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet, uint64_t carried)
{
	struct tp_ctf_packet *old = stream->packet != packet ? stream->packet : NULL;

	tp_mutex_lock(&tp_ctf_lock);
	if (packet != stream->packet)
		link_in(sink, packet, old);
	make_current(sink, stream, packet, old, carried);
	tp_mutex_unlock(&tp_ctf_lock);
	bool left = sink->preparing && leave_to_preparer(sink, stream, old);
	if (old && !left)
		tp_ctf_packets_close(sink, old);
}

static bool begin_oldest(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *old = stream->packet, *packet = tp_ctf_oldest(stream);
	uint64_t carried;

	if (!packet || packet->state != TP_CTF_CLOSED || tp_ctf_packet_is_held(packet))
		return false;
	packet->state = TP_CTF_EMPTY;
	tp_ctf_stream_set_limit(stream, 0);
	packet->in_place = true;
	begin(sink, stream, packet, tp_ctf_take_homeless(sink), &carried);
	make_current(sink, stream, packet, old, carried);
	old->state = TP_CTF_CLOSED;
	tp_ctf_stream_set_limit(stream, stream->head.start + packet->warm);
	return true;
}

bool tp_ctf_packets_go_round(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size)
{
	if (tp_ctf_is_prepared(stream) || !tp_ctf_room_goes_round(sink, stream) || !tp_ctf_stream_claim(stream, TP_CTF_OWNER))
		return false;
	const bool room = tp_ctf_stream_has_room(stream, size) || begin_oldest(sink, stream);
	tp_ctf_stream_unclaim(stream);
	return room;
}

enum tp_lost tp_ctf_packets_next(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *packet;
	enum tp_lost result = TP_NR_LOST;
	uint64_t carried = 0;
	int error = 0;

	tp_ctf_stream_set_limit(stream, 0);
	do {
		packet = __atomic_exchange_n(&stream->prepared, NULL, __ATOMIC_ACQUIRE);
		if (packet)
			tp_ctf_remove_all(sink, tp_ctf_room_take_excess(sink, stream));
		else
			result = tp_ctf_make(sink, stream, false, &packet);
		if (result == TP_NR_LOST)
			error = show(sink, stream, packet, &carried);
	} while (result == TP_NR_LOST && error == EEXIST);
	if (result == TP_NR_LOST && error)
		result = TP_LOST_NO_FILE;
	if (result == TP_NR_LOST)
		switch_packet(sink, stream, packet, carried);
	if (stream->packet) {
		if (!stream->packet->warm)
			tp_ctf_warm(sink, stream->packet, 0);
		/* Where it has failed, the old packet stays, full as it is: it counts what is lost. */
		tp_ctf_stream_set_limit(stream, stream->head.start + stream->packet->warm);
	}
	return result;
}

bool tp_ctf_packets_widen(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t end)
{
	struct tp_ctf_packet *packet = stream->packet;

	if (packet->broken || packet->warm == sink->options.packet)
		return false;
	tp_ctf_warm(sink, packet, end);
	if (packet->warm == sink->options.packet && !sink->preparing && !tp_ctf_is_prepared(stream))
		tp_ctf_prepare(sink, stream, 0); /* ahead of need */
	tp_ctf_stream_set_limit(stream, stream->head.start + packet->warm);
	return true;
}
