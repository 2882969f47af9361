/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/record.c - the way of a record into its thread's stream where the short
 * one, which stream.h has, comes to an end: the thread has no stream yet, the packet is
 * full, the clock is not the counter, the trace has more context.
 */
#include <sched.h>
#include <string.h>

#include "base/base.h"
#include "base/file.h"
#include "base/guard.h"
#include "sinks/ctf/describe/describe.h"
#include "sinks/ctf/options.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/record.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

/* ---- Lost records ---- */

static bool count_lost(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, enum tp_lost cause)
{
	if (stream) {
		tp_ctf_stream_count_lost(sink, stream, cause, 1);
		return false;
	}
	tp_sink_count_lost(&sink->head, cause);
	__atomic_fetch_add(&sink->ring.homeless, 1, __ATOMIC_RELAXED);
	return false;
}

static struct tp_ctf_stream *stream_of_thread(struct tp_ctf_sink *sink, enum tp_lost *cause)
{
	const struct tp_stream_slot *slot = &tp_stream_slots[sink->slot];

	if (tp_ctf_is_own(sink, slot))
		return (struct tp_ctf_stream *)slot->stream;
	return tp_ctf_stream_acquire(sink, cause);
}

/* False where a handler has forked meanwhile: in the child, it is the parent's. */
static bool is_of_thread(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream)
{
	const struct tp_stream_slot *slot = &tp_stream_slots[sink->slot];

	return tp_ctf_is_own(sink, slot) && slot->stream == &stream->head;
}

void tp_ctf_lost(struct tp_sink *head, enum tp_lost cause)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)head;
	enum tp_lost no_stream;

	count_lost(sink, stream_of_thread(sink, &no_stream), cause);
}

/* ---- More room ---- */

static enum tp_lost more_room(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size)
{
	size_t end = (size_t)(stream->head.position - stream->head.start) + TP_STREAM_ALIGN + size;

	if (tp_ctf_stream_has_room(stream, size) || tp_ctf_packets_widen(sink, stream, end))
		return TP_NR_LOST;
	/* Inside another record, or what else is at work on the packet that is full. */
	if (tp_ctf_stream_is_busy(stream) || stream->pins)
		return TP_LOST_NESTED;
	return tp_ctf_packets_switch(sink, stream);
}

/* The stream has another packet. */
static void look_around(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	tp_stream_slots[sink->slot].key = stream->packet->chapter;
	if (sink->options.context & TP_CTF_NAME)
		tp_ctf_stream_take_name(stream);
	if (!tp_sandboxed && !stream->packet->in_place) /* a ring that goes round touches no file */
		tp_ctf_describe_better(sink);
}

/*
 * The trace has another chapter by now: the thread goes on there, unless a record is on its way in the old
 * one. Where it can't, the packet that it has will do.
 */
static void follow(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_guard guard;

	if (stream->pins || tp_ctf_stream_is_busy(stream) || !tp_ctf_room_may_be_tried(sink) ||
	    !tp_guard_enter_slow_way(&guard))
		return;
	if (is_of_thread(sink, stream) && tp_ctf_packets_switch(sink, stream) == TP_NR_LOST)
		look_around(sink, stream);
	tp_guard_leave(&guard);
}

/* TP_NR_LOST: there is, or may be, in the stream that the thread has then; else why not. */
static enum tp_lost make_room(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size)
{
	struct tp_guard guard;
	bool full = stream->packet->broken || stream->head.limit == stream->head.start + sink->options.packet;

	if (sizeof(struct tp_packet) + size > sink->options.packet)
		return TP_LOST_TOO_LARGE;
	if (tp_ctf_stream_goes_round(stream)) /* a handler has interrupted that */
		return TP_LOST_NESTED;
	/* A name is asked of the system, for each packet. */
	if (full && sink->renews && !(sink->options.context & TP_CTF_NAME) && !tp_ctf_stream_is_busy(stream) &&
	    !stream->pins && tp_ctf_packets_go_round(sink, stream, size))
		return TP_NR_LOST;
	/* In front of the guard and its system calls: on a full disk, each record comes here. */
	if (full && tp_ctf_room_is_full(sink, stream))
		return TP_LOST_LIMIT;
	if (full && !(sink->options.flight && sink->options.overwrite) && !tp_ctf_room_may_be_tried(sink))
		return TP_LOST_NO_FILE;
	if (!tp_guard_enter_slow_way(&guard))
		return TP_LOST_NESTED;
	enum tp_lost result = TP_NR_LOST;
	if (is_of_thread(sink, stream)) {
		result = more_room(sink, stream, size);
		if (result == TP_NR_LOST && full)
			look_around(sink, stream);
	}
	tp_guard_leave(&guard);
	return result;
}

/* ---- The record ---- */

/* Where the event begins; NULL where there is no room. As tp_stream_reserve(), with more in front of the record. */
static char *place_reserve(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size, struct tp_record *rec)
{
	struct tp_stream *head = &stream->head;
	uint64_t begin;

	do {
		rec->position = tp_stream_load(&head->position);
		tp_barrier();
		rec->time = tp_stream_time(head, tp_clock_now(&sink->clock));
		begin = (rec->position + TP_STREAM_ALIGN - 1) & ~(uint64_t)(TP_STREAM_ALIGN - 1);
		if (begin + size > tp_stream_load(&head->limit))
			return NULL;
	} while (!tp_stream_exchange(&head->position, rec->position, begin + size));
	return tp_stream_at(head, begin);
}

/* As ctf/describe/metadata.c describes it. */
static void put_context(const struct tp_ctf_sink *sink, const struct tp_ctf_stream *stream, uint16_t id, char *at)
{
	memcpy(at, &id, sizeof(id));
	at += TP_STREAM_ALIGN;
	if (sink->options.context & TP_CTF_CPU) {
		int cpu = sched_getcpu();
		memcpy(at, &cpu, sizeof(cpu));
		at += sizeof(cpu);
	}
	if (sink->options.context & TP_CTF_PID) {
		memcpy(at, &sink->pid, sizeof(sink->pid));
		at += sizeof(sink->pid);
	}
	if (sink->options.context & TP_CTF_NAME)
		memcpy(at, stream->name, sizeof(stream->name));
}

bool tp_ctf_reserve(struct tp_record *rec)
{
	struct tp_ctf_sink *sink = (struct tp_ctf_sink *)rec->sink;
	size_t size = TP_STREAM_TIME + sink->context_size + rec->size;
	struct tp_ctf_stream *stream;
	enum tp_lost cause = TP_NR_LOST;
	char *event = NULL;

	do {
		stream = stream_of_thread(sink, &cause);
		if (!stream)
			return count_lost(sink, NULL, cause);
		if (!tp_ctf_bit_is_set(sink->events.described, rec->event->id))
			return count_lost(sink, stream, TP_LOST_OTHER);
		if (stream->packet->chapter != tp_ctf_key(sink))
			follow(sink, stream);
		event = place_reserve(sink, stream, size, rec);
		cause = event ? TP_NR_LOST : make_room(sink, stream, size);
		if (cause != TP_NR_LOST)
			return count_lost(sink, stream, cause);
	} while (!event);
	memcpy(event, &rec->time, sizeof(rec->time));
	event += TP_STREAM_TIME;
	if (sink->context_size)
		put_context(sink, stream, rec->event->id, event);
	rec->entry = tp_stream_entry(&stream->head, event + sink->context_size, rec->event->id);
	if (sink->copies)
		rec->sink_data[0] = stream;
	else
		rec->stream = &stream->head;
	return true;
}

void tp_ctf_commit(struct tp_record *rec)
{
	struct tp_ctf_stream *stream = rec->sink_data[0];

	__atomic_fetch_add(&stream->uncopied, 1, __ATOMIC_RELAXED);
	tp_stream_commit(&stream->head, rec->position);
	if (!tp_ctf_stream_is_busy(stream)) /* else the outermost does it */
		tp_ctf_packets_copy((struct tp_ctf_sink *)rec->sink, stream);
}
