/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/room.c - how many packets a sink may have, and which one goes for
 * another. It touches no files.
 */
#include <sys/mman.h>

#include "sinks/ctf/ctf.h"

#define CHUNK ((size_t)64 << 10)

/* ---- Descriptions: they are needed in signal handlers that have interrupted malloc ---- */

void *tp_ctf_description_new(struct tp_ctf_sink *sink, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (sink->chunk_left < size) {
		char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (chunk == MAP_FAILED)
			return NULL;
		*(char **)(void *)chunk = sink->chunk; /* the one before it */
		sink->chunk = chunk;
		sink->chunk_left = CHUNK - 16;
	}
	sink->chunk_left -= size;
	return sink->chunk + CHUNK - sink->chunk_left - size;
}

void tp_ctf_descriptions_free(struct tp_ctf_sink *sink)
{
	while (sink->chunk) {
		char *chunk = sink->chunk;
		sink->chunk = *(char **)(void *)chunk;
		munmap(chunk, CHUNK);
	}
}

static struct tp_ctf_packet *description_take(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *packet = sink->unused_packets;

	if (!packet)
		return tp_ctf_description_new(sink, sizeof(*packet));
	sink->unused_packets = packet->next;
	*packet = (struct tp_ctf_packet){.life = packet->life + 1};
	return packet;
}

void tp_ctf_packet_forget(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	packet->memory = NULL;
	packet->life++;
	packet->next = sink->unused_packets;
	sink->unused_packets = packet;
}

/* ---- The closed packets, of which the oldest goes first. Under tp_ctf_lock ---- */

void tp_ctf_closed_add(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	packet->next = NULL;
	*sink->newest_next = packet;
	sink->newest_next = &packet->next;
}

/*
 * The oldest, of this stream, if that is not NULL. While it is being copied,
 * none: a younger one would leave a gap behind.
 */
static struct tp_ctf_packet *closed_take(struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	for (struct tp_ctf_packet **at = &sink->oldest; *at; at = &(*at)->next) {
		struct tp_ctf_packet *packet = *at;
		if (stream && packet->stream != stream)
			continue;
		if (packet->copied)
			return NULL;
		*at = packet->next;
		if (sink->newest_next == &packet->next)
			sink->newest_next = at;
		__atomic_fetch_sub(&packet->stream->packets, 1, __ATOMIC_RELAXED);
		packet->life++;
		return packet;
	}
	return NULL;
}

/* Whether there is one that may not go only because it is being copied. */
static bool closed_is_copied(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	for (const struct tp_ctf_packet *packet = sink->oldest; packet; packet = packet->next) {
		if (packet->copied && (!stream || packet->stream == stream))
			return true;
	}
	return false;
}

/* ---- Room: under tp_ctf_lock, too, but for first looks ---- */

/* Only a first look where it is not. */
bool tp_ctf_room_is_short(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return (stream && __atomic_load_n(&stream->packets, __ATOMIC_RELAXED) >= sink->options.packets) ||
	       __atomic_load_n(&sink->room, __ATOMIC_RELAXED) > sink->options.size - sink->options.packet;
}

bool tp_ctf_room_may_be_tried(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	uint64_t retry_at = __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED);

	return (stream && tp_ctf_is_prepared(stream)) || !retry_at || tp_ctf_clock() >= retry_at;
}

bool tp_ctf_room_is_full(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return !sink->options.overwrite && !(stream && tp_ctf_is_prepared(stream)) && tp_ctf_room_is_short(sink, stream);
}

/*
 * For one that was being copied, or that was not made yet, another was made
 * beyond the limits: that one is not needed any more.
 */
static bool is_over(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	return stream->packets >= sink->options.packets || sink->room > sink->options.size;
}

/* A flight recorder goes round in what it has, where the disk is full. */
bool tp_ctf_room_may_create(const struct tp_ctf_sink *sink)
{
	return !sink->options.flight || !sink->options.overwrite || tp_ctf_room_may_be_tried(sink, NULL);
}

/*
 * There is no closed packet that may go. The thread's own current one may,
 * rather than that nothing new is recorded, unless this is ahead of need.
 */
static bool make_room_in_own(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_plan *plan)
{
	struct tp_ctf_packet *own = stream->packet;

	if (ahead || !sink->options.overwrite || !own || own->copied)
		return false;
	own->life++;
	own->begins_again = true;
	plan->packet = own;
	plan->recycle = true;
	return true;
}

/*
 * Whose oldest packet is to go for one of the stream's: its own, if it has
 * its share of all; that is also in this processor's cache. NULL: anybody's.
 */
static const struct tp_ctf_stream *who_gives(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	bool share = stream->packets * sink->nr_streams * sink->options.packet >= sink->room;

	return stream->packets >= sink->options.packets || (share && stream->packets > 1) ? stream : NULL;
}

static bool make_room(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_plan *plan)
{
	bool create = tp_ctf_room_may_create(sink);

	while (!create || tp_ctf_room_is_short(sink, stream)) {
		const struct tp_ctf_stream *whose = who_gives(sink, stream);
		struct tp_ctf_packet *old = sink->options.overwrite ? closed_take(sink, whose) : NULL;
		if (!old && sink->options.overwrite && stream->packets < sink->options.packets)
			old = closed_take(sink, NULL); /* its own are only prepared, or are being copied */
		if (!old && create && sink->options.overwrite && (sink->making || closed_is_copied(sink, whose)))
			return true;
		if (!old)
			return make_room_in_own(sink, stream, ahead, plan);
		if (!create || (sink->options.flight && !is_over(sink, stream))) {
			plan->packet = old;
			plan->recycle = true;
			return true;
		}
		__atomic_fetch_sub(&sink->room, old->room, __ATOMIC_RELAXED);
		old->next = plan->goes;
		plan->goes = old;
	}
	return true;
}

enum tp_lost tp_ctf_room_plan(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_plan *plan)
{
	enum tp_lost result = TP_NR_LOST;

	tp_mutex_lock(&tp_ctf_lock);
	if (!make_room(sink, stream, ahead, plan)) {
		result = tp_ctf_room_may_create(sink) ? TP_LOST_LIMIT : TP_LOST_NO_FILE;
	} else if (!plan->packet) {
		plan->packet = description_take(sink);
		if (plan->packet) {
			plan->packet->room = sink->options.packet;
			__atomic_fetch_add(&sink->room, plan->packet->room, __ATOMIC_RELAXED);
		} else {
			result = TP_LOST_OTHER;
		}
	}
	if (result == TP_NR_LOST && plan->packet != stream->packet) {
		plan->packet->stream = stream;
		__atomic_fetch_add(&stream->packets, 1, __ATOMIC_RELAXED);
	}
	tp_mutex_unlock(&tp_ctf_lock);
	return result;
}

struct tp_ctf_packet *tp_ctf_room_take_excess(struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *excess = NULL;

	tp_mutex_lock(&tp_ctf_lock);
	while (sink->options.overwrite &&
	       (stream->packets > sink->options.packets || sink->room > sink->options.size)) {
		bool own = stream->packets > sink->options.packets;
		struct tp_ctf_packet *old = closed_take(sink, own ? stream : NULL);
		if (!old)
			break;
		__atomic_fetch_sub(&sink->room, old->room, __ATOMIC_RELAXED);
		old->next = excess;
		excess = old;
	}
	tp_mutex_unlock(&tp_ctf_lock);
	return excess;
}

void tp_ctf_room_give_back(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	tp_mutex_lock(&tp_ctf_lock);
	__atomic_fetch_sub(&packet->stream->packets, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&sink->room, packet->room, __ATOMIC_RELAXED);
	tp_ctf_packet_forget(sink, packet);
	tp_mutex_unlock(&tp_ctf_lock);
}
