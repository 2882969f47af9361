/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/put.h - how packets become a part of a thread's chunk. All but the last is safe in signal handlers.
 */
#ifndef TP_PERFETTO_PUT_H
#define TP_PERFETTO_PUT_H

#include "sinks/perfetto/stream.h"

/* Left of each chunk for what is lost in the end: on a full disk, that is what there is to tell. */
#define TP_PERFETTO_LOST_ROOM ((size_t)128)

/*
 * Whole packets become a part of the trace, by one store at their end. proto has room for TP_CHUNK_ALIGN + 1 bytes more. False:
 * the chunk has no room for them and so many bytes, or the sequence has ended since it had ended so often.
 */
bool tp_perfetto_put_leaving(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, uint32_t ending, struct tp_proto *proto,
			     size_t left);

/* Those of a record, for which the sequence must have begun. */
static inline bool tp_perfetto_put(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, uint32_t ending, struct tp_proto *proto)
{
	return stream->has_begun && tp_perfetto_put_leaving(sink, stream, ending, proto, TP_PERFETTO_LOST_ROOM);
}

/* Packets are on their way that nobody goes on with: a handler has left them by siglongjmp(). What has this frame is not inside of them. */
bool tp_perfetto_was_left(const struct tp_perfetto_stream *stream, uintptr_t frame);

/* So many records are lost. The trace tells of it in front of the next record of the stream or, without one, of any thread. */
void tp_perfetto_lose(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, enum tp_lost cause, unsigned long nr);

/* What was left, if anything was, is no part of the trace. Nothing else is on its way. In tp_guard_enter(). */
void tp_perfetto_abandon_left(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream);

#endif /* TP_PERFETTO_PUT_H */
