/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/room.c - how many packets a sink may have, and which one goes for
 * another. It touches no files.
 */
#include "base/file.h"
#include "sinks/ctf/ring/memory.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

static struct tp_ctf_packet *description_take(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *packet = sink->ring.unused_packets;

	if (packet)
		sink->ring.unused_packets = packet->next;
	else
		packet = tp_ctf_description_new(sink, sizeof(*packet));
	return packet; /* EMPTY, as all that are unused */
}

void tp_ctf_packet_forget(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	packet->memory = packet->file = NULL;
	packet->in_place = false;
	packet->state = TP_CTF_EMPTY;
	packet->next = sink->ring.unused_packets;
	sink->ring.unused_packets = packet;
}

/* ---- The closed packets, of which the oldest goes first. Under tp_ctf_lock ---- */

struct tp_ctf_packet *tp_ctf_oldest(const struct tp_ctf_stream *stream)
{
	return stream->packet && stream->packet->next != stream->packet ? stream->packet->next : NULL;
}

/* Whether so many packets are a stream's share of all, rounded down. Only a first look where tp_ctf_lock is not held. */
static bool has_share(const struct tp_ctf_sink *sink, uint64_t packets)
{
	const unsigned int nr_streams = __atomic_load_n(&sink->ring.nr_streams, __ATOMIC_RELAXED);

	return (packets + 1) * nr_streams * sink->options.packet > __atomic_load_n(&sink->ring.room, __ATOMIC_RELAXED);
}

/*
 * False where its thread goes round. In a sandbox that is waited for, without a call, unless it takes long: one that is made
 * in the place of its packet has to be removed, which its thread may not do any more.
 */
static bool claim(struct tp_ctf_stream *stream)
{
	unsigned int patience = tp_sandboxed ? 1u << 20 : 0;

	while (!tp_ctf_stream_claim(stream, TP_CTF_OTHER)) {
		if (!tp_ctf_stream_goes_round(stream) || !patience--)
			return false;
	}
	return true;
}

/*
 * Takes the one that is the oldest, of this stream, if that is not NULL; else of those that have more than their share, if
 * there are any. One that is being copied stays; so do those of its stream, as a younger one would leave a gap behind.
 * NULL where there is none.
 */
static struct tp_ctf_packet *closed_take(const struct tp_ctf_sink *sink, struct tp_ctf_stream *of)
{
	struct tp_ctf_stream *from = NULL; /* whose it is; claimed */
	bool from_rich = false;

	for (struct tp_ctf_stream *stream = of ? of : sink->ring.streams; stream; stream = of ? NULL : stream->next) {
		if (!claim(stream))
			continue;
		const struct tp_ctf_packet *packet = tp_ctf_oldest(stream);
		const bool rich = has_share(sink, stream->packets - 1);
		struct tp_ctf_stream *not_from = stream;
		if (packet && packet->state == TP_CTF_CLOSED && !tp_ctf_packet_is_held(packet) && (rich || !from_rich) &&
		    (!from || rich != from_rich || packet->begin < tp_ctf_oldest(from)->begin)) {
			not_from = from;
			from = stream;
			from_rich = rich;
		}
		if (not_from)
			tp_ctf_stream_unclaim(not_from);
	}
	if (!from)
		return NULL;
	struct tp_ctf_packet *packet = tp_ctf_oldest(from);
	packet->state = TP_CTF_EMPTY;
	from->packet->next = packet->next;
	__atomic_fetch_sub(&from->packets, 1, __ATOMIC_RELAXED);
	tp_ctf_stream_unclaim(from);
	return packet;
}

/* Whether there is one. Where none could be taken, it is being copied, or was until now; or its thread goes round. */
static bool has_closed(const struct tp_ctf_sink *sink, struct tp_ctf_stream *of)
{
	bool has = false;

	for (struct tp_ctf_stream *stream = of ? of : sink->ring.streams; stream && !has; stream = of ? NULL : stream->next) {
		if (tp_ctf_stream_goes_round(stream))
			return true;
		if (tp_ctf_stream_claim(stream, TP_CTF_OTHER)) {
			has = tp_ctf_oldest(stream) != NULL;
			tp_ctf_stream_unclaim(stream);
		}
	}
	return has;
}

/* ---- Room: under tp_ctf_lock, too, but for first looks ---- */

/* Only a first look where it is not. */
bool tp_ctf_room_is_short(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return (stream && __atomic_load_n(&stream->packets, __ATOMIC_RELAXED) >= sink->options.packets) ||
	       __atomic_load_n(&sink->ring.room, __ATOMIC_RELAXED) > sink->options.size - sink->options.packet;
}

static bool has_empty(const struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->ring.empty, __ATOMIC_RELAXED) != NULL;
}

bool tp_ctf_room_may_be_tried(const struct tp_ctf_sink *sink)
{
	uint64_t retry_at = __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED);

	return has_empty(sink) || !retry_at || tp_ctf_clock() >= retry_at;
}

bool tp_ctf_room_is_full(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return !sink->options.overwrite && !has_empty(sink) && tp_ctf_room_is_short(sink, stream);
}

/* For one that was being copied, another was made beyond the limits: that one is not needed any more. */
static bool is_over(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return stream->packets >= sink->options.packets || sink->ring.room > sink->options.size;
}

/* A flight recorder goes round in what it has, where the disk is full. */
bool tp_ctf_room_may_create(const struct tp_ctf_sink *sink)
{
	return !sink->options.flight || !sink->options.overwrite || tp_ctf_room_may_be_tried(sink);
}

/* There is no closed packet that may go. The thread's own current one may, rather than that nothing new is recorded. */
static bool make_room_in_own(struct tp_ctf_stream *stream, struct tp_ctf_plan *plan)
{
	struct tp_ctf_packet *own = stream->packet;

	if (!own || tp_ctf_packet_is_held(own))
		return false;
	own->state = TP_CTF_EMPTY;
	plan->packet = own;
	plan->recycle = true;
	return true;
}

/*
 * Whether its own oldest packet is to go for one of the stream's, rather than anybody's: if it has
 * its share of all, rounded down; that is also in this processor's cache.
 */
static bool gives_itself(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	const uint64_t packets = __atomic_load_n(&stream->packets, __ATOMIC_RELAXED);

	return packets >= sink->options.packets || (packets > 1 && has_share(sink, packets));
}

bool tp_ctf_room_goes_round(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return tp_ctf_room_is_short(sink, stream) &&
	       __atomic_load_n(&stream->packets, __ATOMIC_RELAXED) <= sink->options.packets &&
	       __atomic_load_n(&sink->ring.room, __ATOMIC_RELAXED) <= sink->options.size && gives_itself(sink, stream);
}

/* Where old ones are overwritten. */
static bool make_room(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_plan *plan)
{
	bool create = tp_ctf_room_may_create(sink);

	while (!create || tp_ctf_room_is_short(sink, stream)) {
		struct tp_ctf_stream *whose = gives_itself(sink, stream) ? stream : NULL;
		struct tp_ctf_packet *old = closed_take(sink, whose);
		if (!old && stream->packets < sink->options.packets)
			old = closed_take(sink, NULL); /* its own are being copied */
		if (!old && create && has_closed(sink, whose))
			return true;
		if (!old)
			return make_room_in_own(stream, plan);
		if (!create || (sink->options.flight && !is_over(sink, stream))) {
			plan->packet = old;
			plan->recycle = true;
			return true;
		}
		__atomic_fetch_sub(&sink->ring.room, old->room, __ATOMIC_RELAXED);
		old->next = plan->goes;
		plan->goes = old;
	}
	return true;
}

static void give_to(struct tp_ctf_packet *packet, struct tp_ctf_stream *stream)
{
	packet->stream = stream;
	if (stream)
		__atomic_fetch_add(&stream->packets, 1, __ATOMIC_RELAXED);
}

enum tp_lost tp_ctf_room_plan(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_plan *plan)
{
	enum tp_lost result = TP_NR_LOST;

	tp_mutex_lock(&tp_ctf_lock);
	if (sink->options.overwrite ? !make_room(sink, stream, plan) : tp_ctf_room_is_short(sink, stream)) {
		result = tp_ctf_room_may_create(sink) ? TP_LOST_LIMIT : TP_LOST_NO_FILE;
	} else if (!plan->packet) {
		plan->packet = description_take(sink);
		if (plan->packet) {
			plan->packet->room = sink->options.packet;
			__atomic_fetch_add(&sink->ring.room, plan->packet->room, __ATOMIC_RELAXED);
		} else {
			result = TP_LOST_OTHER;
		}
	}
	if (result == TP_NR_LOST)
		plan->packet->in_place = plan->recycle && sink->renews && plan->packet->stream == stream;
	if (result == TP_NR_LOST && (!stream || plan->packet != stream->packet))
		give_to(plan->packet, stream);
	tp_mutex_unlock(&tp_ctf_lock);
	return result;
}

struct tp_ctf_packet *tp_ctf_room_take_empty(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *packet = stream->packets < sink->options.packets ? sink->ring.empty : NULL;

	if (packet) {
		__atomic_store_n(&sink->ring.empty, packet->next, __ATOMIC_RELAXED);
		give_to(packet, stream);
	}
	return packet;
}

bool tp_ctf_room_add_empty(struct tp_ctf_sink *sink, const struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	tp_mutex_lock(&tp_ctf_lock);
	const bool is_current = in == sink->dirs;
	packet->state = TP_CTF_EMPTY;
	if (is_current) {
		packet->next = sink->ring.empty;
		__atomic_store_n(&sink->ring.empty, packet, __ATOMIC_RELAXED);
	}
	tp_mutex_unlock(&tp_ctf_lock);
	return is_current;
}

void tp_ctf_room_give_back(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	tp_mutex_lock(&tp_ctf_lock);
	if (packet->stream)
		__atomic_fetch_sub(&packet->stream->packets, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&sink->ring.room, packet->room, __ATOMIC_RELAXED);
	tp_ctf_packet_forget(sink, packet);
	tp_mutex_unlock(&tp_ctf_lock);
}
