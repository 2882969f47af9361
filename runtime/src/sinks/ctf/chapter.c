/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/chapter.c - whoever needs another packet may end the trace's chapter before. All that is
 * static here is under tp_ctf_chapter_lock.
 */
#include "base/lock.h"
#include "base/message.h"
#include "sinks/ctf/begin.h"
#include "sinks/ctf/dir.h"
#include "sinks/ctf/packet.h"
#include "sinks/ctf/packets.h"
#include "sinks/ctf/room.h"
#include "sinks/ctf/sink.h"
#include "sinks/ctf/stream.h"

/* Nanoseconds until another one is tried for. */
#define ROTATE_AGAIN_AFTER 1000000000u

/* They are in the directory of the chapter that ends. */
static void remove_prepared(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *all = NULL, *packet;

	tp_mutex_lock(&tp_ctf_lock);
	for (struct tp_ctf_stream *stream = sink->streams; stream; stream = stream->next) {
		packet = __atomic_exchange_n(&stream->prepared, NULL, __ATOMIC_ACQUIRE);
		if (packet) {
			packet->next = all;
			all = packet;
		}
	}
	tp_mutex_unlock(&tp_ctf_lock);
	while ((packet = all)) {
		all = packet->next;
		tp_ctf_packet_remove(sink, packet, true);
		tp_ctf_room_give_back(sink, packet);
	}
}

/* Whether the chapter ends, in which so much more has been written. */
static bool chapter_is_over(const struct tp_ctf_sink *sink, uint64_t more)
{
	const uint64_t now = tp_ctf_clock();

	if (tp_ctf_is_later(sink) || sink->forked || now < sink->rotate_again)
		return false;
	return sink->written + more >= sink->options.rotate_size || now - sink->chapter_begun >= sink->options.rotate_time;
}

/* True where there is another chapter now. *error: why not; 0 where it is only put off. */
static bool rotate(struct tp_ctf_sink *sink, int *error)
{
	*error = 0;
	if (!tp_try_lock(&tp_events_lock)) /* the metadata is being written */
		return false;
	remove_prepared(sink);
	*error = tp_ctf_begin_chapter(sink);
	tp_unlock(&tp_events_lock);
	if (*error)
		sink->rotate_again = tp_ctf_clock() + ROTATE_AGAIN_AFTER;
	return !*error;
}

static enum tp_lost next_packet_of_chapter(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool *rotated, int *error)
{
	/* Without its end, which is given back. */
	uint64_t written = stream->packet && stream->chapter == sink->chapter ? stream->head.published - stream->head.start : 0;

	if (chapter_is_over(sink, written))
		*rotated = rotate(sink, error);
	enum tp_lost result = tp_ctf_packets_next(sink, stream);
	if (result == TP_NR_LOST) {
		sink->written += *rotated ? 0 : written;
		stream->chapter = sink->chapter;
	}
	return result;
}

enum tp_lost tp_ctf_packets_switch(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	bool rotated = false;
	int error = 0;

	if (!sink->options.rotate)
		return tp_ctf_packets_next(sink, stream);
	tp_mutex_lock(&tp_ctf_chapter_lock);
	enum tp_lost result = next_packet_of_chapter(sink, stream, &rotated, &error);
	tp_mutex_unlock(&tp_ctf_chapter_lock);
	if (error && !__atomic_exchange_n(&sink->chapter_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': rotate= can't begin another chapter: %s%s; the records go into the one that there "
			    "is until it can",
			    sink->path, tp_strerror(error), tp_ctf_remedy(error));
	if (rotated)
		tp_ctf_begin_tidy(sink);
	return result;
}
