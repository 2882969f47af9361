/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/packets.c - a stream's packets, one after the other: the next becomes the
 * current one, and what becomes of the one before.
 */
#include <errno.h>

#include "base/base.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/make.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

/* Gives the packet its head and its name. *carried: the losses of the one before that are in it. */
static int begin(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet,
		 unsigned long homeless, uint64_t *carried)
{
	const bool in_new_chapter = in && (!stream->packet || stream->packet->chapter != in->key);

	*carried = stream->packet ? stream->packet->memory->events_discarded : 0;
	if (in_new_chapter)
		stream->first = stream->shown;
	/* Not before the end of the old one. */
	packet->begin = tp_stream_time(&stream->head, tp_clock_now(&sink->clock));
	packet->chapter = in ? in->key : stream->packet->chapter;
	return tp_ctf_packet_begin(sink, in, packet, (in_new_chapter ? 0 : *carried) + homeless);
}

/*
 * The name of the stream's next packet. An earlier process with this one's id
 * may have written to the trace: then no stream of ours may be called as one of its is.
 */
static void name_it(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet)
{
	if (!stream->shown && stream->sequence) {
		tp_mutex_lock(&tp_ctf_lock);
		stream->number = sink->ring.next_number++;
		tp_mutex_unlock(&tp_ctf_lock);
		stream->sequence = 0;
	}
	packet->number = stream->number;
	packet->sequence = stream->sequence++;
}

static void remove_empty(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	tp_ctf_packet_remove(sink, in, packet, true);
	tp_ctf_room_give_back(sink, packet);
}

/* The same. 0 or an error, and then it is gone. */
static int show(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet,
		uint64_t *carried)
{
	unsigned long homeless = tp_ctf_take_homeless(sink);
	int error;

	do {
		if (!packet->in_place)
			name_it(sink, stream, packet);
		error = begin(sink, in, stream, packet, homeless, carried);
	} while (error == EEXIST);
	if (!error)
		return 0;
	__atomic_fetch_add(&sink->ring.homeless, homeless, __ATOMIC_RELAXED);
	if (packet != stream->packet)
		remove_empty(sink, in, packet);
	tp_ctf_failed(sink, "new packet", "made", error);
	return error;
}

void tp_ctf_packets_close(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	size_t unused = sink->options.flight ? 0 : tp_ctf_packet_finish(sink, packet);

	tp_mutex_lock(&tp_ctf_lock);
	packet->room -= unused;
	__atomic_fetch_sub(&sink->ring.room, unused, __ATOMIC_RELAXED);
	if (sink->options.flight || sink->options.overwrite)
		packet->state = TP_CTF_CLOSED;
	else
		tp_ctf_packet_forget(sink, packet);
	tp_mutex_unlock(&tp_ctf_lock);
}

static bool take_room(struct tp_ctf_sink *sink, uint64_t size)
{
	tp_mutex_lock(&tp_ctf_lock);
	const bool there_is = sink->ring.room <= sink->options.size - size;
	if (there_is)
		__atomic_fetch_add(&sink->ring.room, size, __ATOMIC_RELAXED);
	tp_mutex_unlock(&tp_ctf_lock);
	return there_is;
}

static bool save(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	const size_t size = (size_t)(packet->memory->content_size / CHAR_BIT);

	if (packet->broken || !tp_ctf_watch_was_quiet(sink, packet->watched) || size > sink->options.size || !take_room(sink, size))
		return false;
	if (tp_ctf_packet_save(sink, in, packet) == 0)
		return true;
	__atomic_fetch_sub(&sink->ring.room, size, __ATOMIC_RELAXED);
	return false;
}

void tp_ctf_packets_add_empty(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	if (!tp_ctf_room_add_empty(sink, in, packet))
		remove_empty(sink, in, packet);
}

void tp_ctf_packets_remove_empty(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *all)
{
	while (all) {
		struct tp_ctf_packet *next = all->next;
		remove_empty(sink, in, all);
		all = next;
	}
}

bool tp_ctf_packets_save(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_dir *in = tp_ctf_dir_enter(sink);
	tp_mutex_unlock(&tp_ctf_lock);
	const bool saved = in->key == packet->chapter && save(sink, in, packet);

	if (saved && tp_ctf_watch_was_quiet(sink, packet->watched))
		tp_ctf_packets_add_empty(sink, in, packet);
	else if (saved)
		remove_empty(sink, in, packet);
	tp_mutex_lock(&tp_ctf_lock);
	tp_ctf_dir_leave(sink, in);
	tp_mutex_unlock(&tp_ctf_lock);
	return saved;
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

/* Returns the old packet, if the caller is to close it. Under tp_ctf_lock. */
static struct tp_ctf_packet *switch_packet(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet,
					   uint64_t carried)
{
	struct tp_ctf_packet *old = stream->packet != packet ? stream->packet : NULL;

	if (packet != stream->packet)
		link_in(sink, packet, old);
	make_current(sink, stream, packet, old, carried);
	if (!old || !tp_ctf_has_preparer(sink))
		return old;
	old->next = sink->ring.full;
	sink->ring.full = old;
	return NULL;
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
	begin(sink, NULL, stream, packet, tp_ctf_take_homeless(sink), &carried);
	make_current(sink, stream, packet, old, carried);
	old->state = TP_CTF_CLOSED;
	tp_ctf_stream_set_limit(stream, stream->head.start + packet->warm);
	return true;
}

bool tp_ctf_packets_go_round(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size)
{
	if (!tp_ctf_room_goes_round(sink, stream) || !tp_ctf_stream_claim(stream, TP_CTF_OWNER))
		return false;
	const bool room = tp_ctf_stream_has_room(stream, size) || begin_oldest(sink, stream);
	tp_ctf_stream_unclaim(stream);
	return room;
}

enum tp_lost tp_ctf_packets_next(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *old = NULL;
	enum tp_lost result = TP_NR_LOST;
	uint64_t carried = 0;

	tp_ctf_stream_set_limit(stream, 0);
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_dir *in = tp_ctf_dir_enter(sink);
	struct tp_ctf_packet *packet = tp_ctf_room_take_empty(sink, stream);
	tp_mutex_unlock(&tp_ctf_lock);
	if (!packet)
		result = tp_ctf_make(sink, in, stream, &packet);
	if (result == TP_NR_LOST && show(sink, in, stream, packet, &carried) != 0)
		result = TP_LOST_NO_FILE;
	tp_mutex_lock(&tp_ctf_lock);
	if (result == TP_NR_LOST)
		old = switch_packet(sink, stream, packet, carried);
	tp_ctf_dir_leave(sink, in);
	tp_mutex_unlock(&tp_ctf_lock);
	if (old)
		tp_ctf_packets_close(sink, old);
	else if (result == TP_NR_LOST && tp_ctf_has_preparer(sink))
		tp_helper_wake(&sink->preparer);
	if (stream->packet) {
		if (!stream->packet->warm)
			tp_ctf_warm(sink, stream->packet, 0);
		/* Where it has failed, the old packet stays, full as it is: it counts what is lost. */
		tp_ctf_stream_set_limit(stream, stream->head.start + stream->packet->warm);
	}
	return result;
}

static void make_present(const struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	tp_ctf_warm(sink, stream->packet, sink->options.packet);
	tp_ctf_stream_set_limit(stream, stream->head.start + stream->packet->warm);
}

void tp_ctf_packets_fill(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	uint64_t most = sink->options.size / sink->options.packet; /* what others take meanwhile is not made again and again */

	make_present(sink, stream);
	while (most-- && !tp_ctf_room_goes_round(sink, stream) && tp_ctf_packets_next(sink, stream) == TP_NR_LOST)
		make_present(sink, stream);
}

bool tp_ctf_packets_widen(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t end)
{
	struct tp_ctf_packet *packet = stream->packet;

	if (packet->broken || packet->warm == sink->options.packet)
		return false;
	tp_ctf_warm(sink, packet, end);
	tp_ctf_stream_set_limit(stream, stream->head.start + packet->warm);
	return true;
}
