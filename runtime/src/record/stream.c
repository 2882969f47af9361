/* SPDX-License-Identifier: MIT */
/*
 * record/stream.c - see stream.h.
 */
#include "base/base.h"
#include "record/stream.h"

#define NONE {.key = TP_STREAM_NONE}
_Static_assert(TP_STREAM_SINKS == 16, "so many NONE are needed");
TP_THREAD_LOCAL struct tp_stream_slot tp_stream_slots[TP_STREAM_SINKS] = {
	NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE,
};

/*
 * Handlers have been here: what they left to the record that is committed
 * is published still. Where the last one was after that, and has published itself, nothing of the packet
 * that was may be touched: there may be another by now.
 */
void tp_stream_publish_more(struct tp_stream *stream, uint64_t position)
{
	while (tp_stream_load(&stream->published) == position) {
		uint64_t now = tp_stream_load(&stream->position);
		if (now == position)
			return;
		tp_stream_publish(stream, now);
		position = now;
	}
}

/* A handler that comes in between may make it one less. */
void tp_stream_count_inside(struct tp_stream *stream)
{
	if (stream->inside_of != stream->published) {
		stream->inside_of = stream->published;
		stream->inside = 0;
	}
	stream->inside++;
}

uint64_t tp_stream_abandon(struct tp_stream *stream)
{
	uint64_t lost = 1 + (stream->inside_of == stream->published ? stream->inside : 0);
	/* A handler may have ended the thread just behind the store of the size. */
	uint64_t content = stream->start + stream->packet->content_size / CHAR_BIT;

	if (stream->position == content)
		lost = 0;
	stream->position = stream->published = content;
	return lost;
}
