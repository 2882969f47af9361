/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/put.c - see put.h.
 *
 * A chunk is full of packets up to the stream's position; the rest is one field that readers skip. So that a reader finds whole
 * fields at every instant, packets are put there in this order:
 *
 *	1. a place is taken: the position moves on, by one instruction
 *	2. all but the first 8 bytes are written: they are in the skipped field still
 *	3. behind them begins a new field that is skipped, over the new rest
 *	4. the first 8 bytes are written by one store, over the head of the old field
 *
 * A signal handler may come anywhere, and put packets of its own behind the place that is taken. It is through when the thread
 * goes on, and its packets are in the trace after the thread's step 4. If there are packets of a handler behind the place, step 3
 * is done already: memory that nobody has written to is zero. While a place is taken, no handler goes on to another chunk.
 *
 * If a handler leaves the thread's packet by siglongjmp, or the thread ends there, its step 4 never comes. Then, what was taken
 * becomes a field that readers skip, and the sequence begins again: names that were told in there are lost.
 */
#include <string.h>

#include "base/hit.h"
#include "record/stream.h"
#include "sinks/perfetto/put.h"

void tp_perfetto_lose(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, enum tp_lost cause, unsigned long nr)
{
	tp_sink_count_all_lost(&sink->head, cause, nr);
	__atomic_fetch_add(stream ? &stream->lost : &sink->homeless, nr, __ATOMIC_RELAXED);
}

static uint64_t *word_at(const struct tp_perfetto_stream *stream, uint64_t position)
{
	return (uint64_t *)(void *)(stream->chunk.memory + position);
}

/* Fields that are skipped end where the next 8 bytes begin: one byte alone can't be such a field. */
static bool fill_up(struct tp_proto *proto)
{
	static const char zeros[TP_CHUNK_ALIGN + 1];
	const size_t missing = -proto->len & (TP_CHUNK_ALIGN - 1);
	const size_t len = missing == 1 ? missing + TP_CHUNK_ALIGN : missing;
	const char head[] = {TP_TRACE_PADDING << 3 | TP_PROTO_BYTES, (char)(len - 2)};

	if (len) {
		tp_proto_append(proto, head, sizeof(head));
		tp_proto_append(proto, zeros, len - sizeof(head));
	}
	return !proto->is_full;
}

/* A handler may have put its packets there. */
static void put_rest(struct tp_perfetto_stream *stream, uint64_t position)
{
	if (position < stream->chunk.size)
		tp_stream_exchange(word_at(stream, position), 0, tp_perfetto_padding((size_t)(stream->chunk.size - position)));
}

static bool is_copied(const struct tp_perfetto_stream *stream)
{
	return stream->chunk.file == stream->chunk.memory || stream->broken || stream->copied == tp_stream_load(&stream->position);
}

/* What the sequence has told is lost. */
static void end_sequence(struct tp_perfetto_stream *stream)
{
	stream->has_begun = false;
	stream->endings++;
}

/* What all have put so far: the outermost does it for those inside, also for handlers that come meanwhile. */
static void copy(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	while (!is_copied(stream)) {
		const uint64_t position = tp_stream_load(&stream->position);
		if (tp_perfetto_chunk_copy(&stream->chunk, (size_t)stream->copied, (size_t)position) == 0) {
			stream->copied = position;
			continue;
		}
		stream->broken = true;
		tp_perfetto_lose(sink, stream, TP_LOST_NO_FILE, stream->has_begun + stream->inside); /* what begins it is no record */
		end_sequence(stream);
	}
}

static void put_at(struct tp_perfetto_stream *stream, uint64_t position, const struct tp_proto *proto)
{
	uint64_t head;

	memcpy(&head, proto->bytes, sizeof(head));
	memcpy(stream->chunk.memory + position + sizeof(head), proto->bytes + sizeof(head), proto->len - sizeof(head));
	put_rest(stream, position + proto->len);
	__atomic_store_n(word_at(stream, position), head, __ATOMIC_RELEASE);
}

static bool is_finished(const struct tp_perfetto_stream *stream)
{
	return tp_stream_load(&stream->finished) == tp_stream_load(&stream->position);
}

bool tp_perfetto_was_left(const struct tp_perfetto_stream *stream, uintptr_t frame)
{
	return stream->frame ? tp_frame_was_left(stream->frame, frame) : !is_finished(stream);
}

static void finish(struct tp_perfetto_stream *stream, size_t len)
{
	uint64_t finished;

	do
		finished = tp_stream_load(&stream->finished);
	while (!tp_stream_exchange(&stream->finished, finished, finished + len));
}

static void end_outermost(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, uintptr_t frame)
{
	do {
		stream->frame = frame;
		tp_barrier();
		copy(sink, stream);
		if (is_finished(stream))
			stream->inside = 0;
		tp_barrier();
		stream->frame = 0;
		tp_barrier();
	} while (__builtin_expect(!is_copied(stream), 0)); /* a handler may have come behind the last look */
}

bool tp_perfetto_put_leaving(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, uint32_t ending, struct tp_proto *proto,
			     size_t left)
{
	const uintptr_t frame = TP_HIT_FRAME, outer = stream->frame;
	bool has_room = fill_up(proto);
	uint64_t position = 0;

	if (__builtin_expect(tp_perfetto_was_left(stream, frame), 0))
		return false;
	if (!outer)
		stream->frame = frame;
	tp_barrier(); /* from here on, no handler ends the sequence */
	has_room = has_room && stream->endings == ending;
	do {
		position = tp_stream_load(&stream->position);
		has_room = has_room && !stream->broken && proto->len + left <= stream->chunk.size - position;
	} while (has_room && !tp_stream_exchange(&stream->position, position, position + proto->len));
	if (has_room) {
		put_at(stream, position, proto);
		finish(stream, proto->len);
	}
	if (outer)
		stream->inside += has_room;
	else
		end_outermost(sink, stream, frame);
	return has_room;
}

/* ---- What was left ---- */

/* Bytes of the field there, with its head; 0: there is none. */
static size_t field_size(const unsigned char *at, size_t left)
{
	const unsigned int tag = *at, packet = TP_TRACE_PACKET << 3 | TP_PROTO_BYTES, padding = TP_TRACE_PADDING << 3 | TP_PROTO_BYTES;
	size_t len = 0, i = 1;

	if (tag != packet && tag != padding)
		return 0;
	for (unsigned int shift = 0; i < left && i <= TP_PROTO_LENGTH_BYTES; shift += 7) {
		len |= (size_t)(at[i] & 0x7f) << shift;
		if (at[i++] < 0x80)
			return len <= left - i ? len + i : 0;
	}
	return 0;
}

/* Where readers find the last field, which is the rest of the chunk. What fills up a packet begins at no multiple of 8. */
static size_t rest_of(const struct tp_perfetto_chunk *chunk)
{
	size_t at = 0, size;

	while (at < chunk->size) {
		size = field_size(chunk->memory + at, chunk->size - at);
		if (!size || (at + size == chunk->size && at % TP_CHUNK_ALIGN == 0 && chunk->memory[at] == (TP_TRACE_PADDING << 3 | TP_PROTO_BYTES)))
			break;
		at += size;
	}
	return at;
}

void tp_perfetto_abandon_left(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	if (!stream->frame && is_finished(stream))
		return;
	const size_t end = (size_t)stream->position, rest = rest_of(&stream->chunk);
	stream->frame = 0;
	end_sequence(stream);
	if (rest < end) {
		put_rest(stream, end);
		__atomic_store_n(word_at(stream, rest), tp_perfetto_padding(end - rest), __ATOMIC_RELEASE);
		tp_perfetto_lose(sink, stream, TP_LOST_OTHER, 1 + stream->inside);
	}
	stream->finished = end;
	copy(sink, stream);
	stream->inside = 0;
}
