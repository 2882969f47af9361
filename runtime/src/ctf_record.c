/* SPDX-License-Identifier: MIT */
/*
 * ctf_record.c - the way of a record into its thread's stream.
 *
 * Only the thread itself and its signal handlers write to its stream. A
 * handler's records nest inside that of the thread: their places are
 * reserved in the order of their times, and what has been reserved is made
 * content when the outermost of them is committed.
 *
 * All that a record costs while its packet has room is in this file, so that
 * the compiler sees it at once.
 */
#include <limits.h>
#include <time.h>

#include "ctf.h"

/* A position that no record fits behind, for while a packet is being changed. */
#define NO_POSITION (UINT64_MAX / 2)

/*
 * A compare-and-exchange against this thread's own signal handlers: one
 * instruction, but not a locked one, which costs four times as much.
 */
static bool local_cmpxchg(uint64_t *at, uint64_t expected, uint64_t desired)
{
#if defined(__x86_64__)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(done), "+m"(*at), "+a"(expected) : "r"(desired) : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(at, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static uint64_t load(const uint64_t *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* Makes what is reserved the packet's content: all of it is committed. */
static void publish(struct ctf_stream *stream, uint64_t position)
{
	/*
	 * Barrier (D): payload, then the end of the time, then the size; a
	 * reader, who reads the size first, finds all that it covers.
	 */
	__atomic_store_n(&stream->packet->timestamp_end, stream->last_time, __ATOMIC_RELEASE);
	__atomic_store_n(&stream->packet->content_size, position * CHAR_BIT, __ATOMIC_RELEASE);
}

/* ---- The next packet ---- */

/*
 * Nothing is reserved from here on: the handler of a synchronous signal, the
 * only one that can still come, finds no room. Returns the position.
 */
static uint64_t packet_close(struct ctf_stream *stream)
{
	uint64_t position;

	do {
		position = load(&stream->position);
	} while (!local_cmpxchg(&stream->position, position, NO_POSITION));
	/* Not before: handlers' records came while this thread was on its way here. */
	publish(stream, position);
	return position;
}

static void packet_open(struct ctf_stream *stream, uint64_t position)
{
	tp_barrier(); /* the packet is there before the room in it */
	__atomic_store_n(&stream->position, position, __ATOMIC_RELAXED);
}

/* The next packet. Called in tp_guard_enter(), with no record on its way. */
static bool packet_switch(struct ctf_sink *sink, struct ctf_stream *stream)
{
	struct tp_ctf_packet *old = stream->packet;
	uint64_t position = packet_close(stream);
	uint64_t now = clock_now(CLOCK_MONOTONIC); /* not before the end of the old one */
	struct tp_ctf_packet *packet;
	int error;

	stream->sequence++;
	packet = tp_ctf_packet_create(sink, stream, now, &error);
	if (!packet) { /* the old one stays, full as it is: it counts what is lost */
		stream->sequence--;
		tp_ctf_packet_failed(sink, now, error);
		packet_open(stream, position);
		return false;
	}
	stream->packet = packet;
	packet_open(stream, sizeof(*packet));
	tp_ctf_packet_finish(sink, old);
	return true;
}

static TP_COLD bool next_packet(struct ctf_sink *sink, struct ctf_stream *stream, uint32_t size)
{
	struct tp_guard guard;

	/* Inside another record, which is in the packet that is full; or it would never fit. */
	if (stream->nesting > 1 || sizeof(struct tp_ctf_packet) + TP_CTF_EVENT_HEAD + size > sink->packet_size)
		return false;
	/* In front of the guard and its system calls: on a full disk, each record comes here. */
	if (!tp_ctf_packet_may_be_tried(sink, clock_now(CLOCK_MONOTONIC)))
		return false;
	if (!tp_guard_enter(&guard))
		return false;
	bool done = packet_switch(sink, stream);
	tp_guard_leave(&guard);
	return done;
}

/* ---- Reserving and committing ---- */

static struct ctf_stream *stream_of_thread(struct ctf_sink *sink)
{
	const struct ctf_slot *slot = &tp_ctf_slots[sink->slot];

	if (__builtin_expect(slot->generation == sink->generation, 1))
		return slot->stream;
	return tp_ctf_stream_acquire(sink);
}

/*
 * Reserves place for the record: where the event begins, in bytes from the
 * packet's start; 0 where there is none, and a new packet may be made.
 *
 * The clock is read after the position and before the exchange. If a handler
 * reserves in between, the exchange fails, and the clock is read again: so
 * times never go backwards. The same holds for last_time, which a handler
 * may have made later than the value that is stored over it here: whoever
 * finds the position unchanged afterwards knows that none has.
 */
static uint64_t place_reserve(struct ctf_sink *sink, struct ctf_stream *stream, uint32_t size, uint64_t *time)
{
	uint64_t position, begin, end;

	do {
		position = load(&stream->position);
		tp_barrier();
		*time = clock_now(CLOCK_MONOTONIC);
		__atomic_store_n(&stream->last_time, *time, __ATOMIC_RELAXED);
		tp_barrier();
		begin = (position + TP_CTF_ALIGN - 1) & ~(uint64_t)(TP_CTF_ALIGN - 1);
		end = begin + TP_CTF_EVENT_HEAD + size;
		if (end > sink->packet_size) {
			begin = 0;
			end = position; /* to see that the position is still the same */
		}
	} while (!local_cmpxchg(&stream->position, position, end));
	return begin;
}

static void stream_enter(struct ctf_stream *stream)
{
	stream->nesting++;
	tp_barrier();
}

/*
 * A handler that comes while this is the outermost record leaves the
 * publication to it. One that comes after the position was read and before
 * nesting is 0 would be left out: hence the second look.
 */
static void stream_leave(struct ctf_stream *stream)
{
	tp_barrier();
	if (stream->nesting > 1) {
		stream->nesting--;
		return;
	}
	for (;;) {
		uint64_t position = load(&stream->position);
		publish(stream, position);
		tp_barrier();
		stream->nesting = 0;
		tp_barrier();
		if (__builtin_expect(load(&stream->position) == position, 1))
			return;
		stream_enter(stream);
	}
}

static void count_discarded(struct ctf_stream *stream)
{
	if (stream)
		__atomic_fetch_add(&stream->packet->events_discarded, 1, __ATOMIC_RELAXED);
}

static void count_lost(struct ctf_sink *sink, struct ctf_stream *stream)
{
	tp_sink_count_lost(&sink->head);
	count_discarded(stream);
}

void tp_ctf_lost(struct tp_sink *head)
{
	count_discarded(stream_of_thread((struct ctf_sink *)head));
}

bool tp_ctf_reserve(struct tp_record *rec)
{
	struct ctf_sink *sink = (struct ctf_sink *)rec->sink;
	struct ctf_stream *stream = stream_of_thread(sink);
	uint64_t begin, time;

	if (!stream || !bit_is_set(sink->described, rec->event->id)) {
		count_lost(sink, stream);
		return false;
	}
	stream_enter(stream);
	do {
		begin = place_reserve(sink, stream, rec->size, &time);
	} while (!begin && next_packet(sink, stream, rec->size));
	if (!begin) {
		count_lost(sink, stream);
		stream_leave(stream);
		return false;
	}
	char *event = (char *)stream->packet + begin;
	*(uint64_t *)(void *)event = time;
	rec->time = time + sink->clock_offset;
	rec->entry = (struct trace_entry *)(void *)(event + TP_CTF_EVENT_HEAD);
	rec->priv[0] = stream;
	return true;
}

void tp_ctf_commit(struct tp_record *rec)
{
	stream_leave(rec->priv[0]);
}
