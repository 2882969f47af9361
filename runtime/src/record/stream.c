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
	while (__atomic_load_n(&stream->published, __ATOMIC_RELAXED) == position) {
		uint64_t now = __atomic_load_n(&stream->position, __ATOMIC_RELAXED);
		if (now == position)
			return;
		tp_stream_publish(stream, now);
		position = now;
	}
}
