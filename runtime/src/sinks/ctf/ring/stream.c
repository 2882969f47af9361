/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/stream.c - the streams of a sink, and which thread has which: from a
 * thread's first record to its exit, and across forks.
 */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/base.h"
#include "base/file.h"
#include "base/guard.h"
#include "base/message.h"
#include "base/thread.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/options.h"
#include "sinks/ctf/ring/memory.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

/* Under tp_ctf_lock. */
static struct tp_ctf_sink *sink_of_slot[TP_STREAM_SINKS];

/* ---- The streams of a sink ---- */

/* With a number that no other of the sink has. */
static struct tp_ctf_stream *description_take(struct tp_ctf_sink *sink)
{
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_stream *stream = sink->ring.unused_streams;
	if (stream) {
		sink->ring.unused_streams = stream->next_free;
		*stream = (struct tp_ctf_stream){.next = NULL};
	} else {
		stream = tp_ctf_description_new(sink, sizeof(*stream));
	}
	if (stream)
		stream->number = sink->ring.next_number++;
	tp_mutex_unlock(&tp_ctf_lock);
	return stream;
}

static void description_give(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	stream->next_free = sink->ring.unused_streams;
	sink->ring.unused_streams = stream;
}

static struct tp_ctf_stream *stream_create(struct tp_ctf_sink *sink, enum tp_lost *cause)
{
	struct tp_ctf_stream *stream = description_take(sink);

	if (!stream) {
		*cause = TP_LOST_OTHER;
		return NULL;
	}
	*cause = tp_ctf_packets_switch(sink, stream);
	tp_mutex_lock(&tp_ctf_lock);
	if (*cause == TP_NR_LOST) {
		stream->next = sink->ring.streams;
		sink->ring.streams = stream;
		__atomic_fetch_add(&sink->ring.nr_streams, 1, __ATOMIC_RELAXED);
	} else {
		description_give(sink, stream);
	}
	tp_mutex_unlock(&tp_ctf_lock);
	if (tp_ctf_has_preparer(sink))
		tp_helper_wake(&sink->preparer); /* which does nothing before there is a stream */
	if (*cause != TP_NR_LOST)
		return NULL;
	if (tp_sandboxed && sink->renews)
		tp_ctf_packets_fill(sink, stream);
	return stream;
}

static struct tp_ctf_stream *pool_take(struct tp_ctf_sink *sink)
{
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_stream *stream = sink->ring.pool;
	if (stream)
		__atomic_store_n(&sink->ring.pool, stream->next_free, __ATOMIC_RELAXED);
	tp_mutex_unlock(&tp_ctf_lock);
	return stream;
}

/* ---- The streams of a thread ---- */

void tp_ctf_stream_take_name(struct tp_ctf_stream *stream)
{
	prctl(PR_GET_NAME, stream->name);
}

/* A handler that comes in between may record: its record is not later than the end. */
static void end_now(const struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	uint64_t *end = &stream->head.packet->timestamp_end, was;

	do {
		was = __atomic_load_n(end, __ATOMIC_RELAXED);
		tp_barrier();
	} while (!tp_stream_exchange(end, was, tp_stream_time(&stream->head, tp_clock_now(&sink->clock))));
}

void tp_ctf_stream_count_lost(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, enum tp_lost cause, uint64_t nr)
{
	tp_sink_count_all_lost(&sink->head, cause, (unsigned long)nr);
	stream->pins++;
	tp_barrier(); /* no handler takes the packet away */
	struct tp_packet *packet = stream->head.packet;
	__atomic_fetch_add(&packet->events_discarded, nr, __ATOMIC_RELAXED);
	/*
	 * Readers say that it was between the packet's end and that of the one before. Not while
	 * the packet changes (there is no limit then): the next one has begun, and tells of it.
	 */
	if (!tp_ctf_stream_is_busy(stream) && stream->head.limit)
		end_now(sink, stream);
	tp_barrier();
	stream->pins--;
	if (sink->copies && !tp_ctf_stream_is_busy(stream) && !stream->packet->broken)
		tp_ctf_packets_copy(sink, stream);
}

/* The thread has ended inside TP_fast_assign. */
static void abandon_records(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	uint64_t lost = tp_stream_abandon(&stream->head);

	stream->pins = 0;
	stream->copying = false;
	stream->uncopied = 0;
	if (lost)
		tp_ctf_stream_count_lost(sink, stream, TP_LOST_OTHER, lost);
}

/*
 * Back into the pool of its sink, if that is still there. One whose thread ends
 * in a handler, while it goes round, stays out of use.
 */
static void slot_leave(unsigned int i)
{
	struct tp_stream_slot *slot = &tp_stream_slots[i];
	struct tp_ctf_sink *sink = sink_of_slot[i];
	bool current = sink && tp_ctf_is_own(sink, slot);
	struct tp_ctf_stream *stream = (struct tp_ctf_stream *)slot->stream;

	slot->key = TP_STREAM_NONE;
	tp_barrier(); /* before anybody else may have the stream */
	if (!current)
		return;
	if (tp_ctf_stream_goes_round(stream)) {
		stream->claim = TP_CTF_LOST;
		return;
	}
	if (tp_ctf_stream_is_busy(stream))
		abandon_records(sink, stream);
	stream->next_free = sink->ring.pool;
	__atomic_store_n(&sink->ring.pool, stream, __ATOMIC_RELAXED);
}

static void leave(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard))
		return;
	tp_mutex_lock(&tp_ctf_lock);
	for (unsigned int i = 0; i < TP_STREAM_SINKS; i++) {
		if (tp_stream_slots[i].key != TP_STREAM_NONE)
			slot_leave(i);
	}
	tp_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
}

/* A stream that an exited thread has left, or a new one. */
static struct tp_ctf_stream *stream_for_thread(struct tp_ctf_sink *sink, enum tp_lost *cause)
{
	struct tp_stream_slot *slot = &tp_stream_slots[sink->slot];

	*cause = TP_LOST_OTHER;
	if (!tp_thread_arm(leave))
		return NULL;
	struct tp_ctf_stream *stream = pool_take(sink);
	if (!stream)
		stream = stream_create(sink, cause);
	if (!stream)
		return NULL;
	struct trace_entry entry = {.pid = tp_thread_id()};
	memcpy(&stream->head.entry, &entry, sizeof(entry));
	if (sink->options.context & TP_CTF_NAME)
		tp_ctf_stream_take_name(stream);
	slot->stream = &stream->head;
	tp_barrier(); /* key says that the stream is there */
	slot->key = stream->packet->chapter;
	return stream;
}

struct tp_ctf_stream *tp_ctf_stream_acquire(struct tp_ctf_sink *sink, enum tp_lost *cause)
{
	struct tp_guard guard;

	/* In front of the guard and its system calls: where all is full, each record of a new thread comes here. */
	*cause = TP_LOST_NO_FILE;
	bool pooled = __atomic_load_n(&sink->ring.pool, __ATOMIC_RELAXED) != NULL;
	if (!pooled && !tp_ctf_room_may_be_tried(sink))
		return NULL;
	*cause = TP_LOST_LIMIT;
	if (!pooled && tp_ctf_room_is_full(sink, NULL))
		return NULL;
	*cause = TP_LOST_NESTED;
	if (!tp_guard_enter_slow_way(&guard))
		return NULL;
	struct tp_ctf_stream *stream = stream_for_thread(sink, cause);
	tp_guard_leave(&guard);
	return stream;
}

/* ---- From a sink's opening to its closing ---- */

bool tp_ctf_streams_begin(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;
	uint32_t slot = 0;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_ctf_lock);
	sink->first_key = tp_ctf_dir_new_key(sink->dirs);
	while (slot < TP_STREAM_SINKS && sink_of_slot[slot])
		slot++;
	if (slot < TP_STREAM_SINKS)
		sink_of_slot[slot] = sink;
	sink->slot = slot;
	tp_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
	return slot < TP_STREAM_SINKS;
}

void tp_ctf_streams_end(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;
	unsigned int removed = 0;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_ctf_lock);
	sink_of_slot[sink->slot] = NULL; /* from here on no exiting thread touches the streams */
	tp_mutex_unlock(&tp_ctf_lock);
	for (struct tp_ctf_stream *stream = sink->ring.streams; stream; stream = stream->next)
		removed += tp_ctf_packets_end_stream(sink, stream);
	tp_ctf_packets_remove_empty(sink, sink->dirs, sink->ring.empty);
	tp_guard_leave(&guard);
	if (removed)
		tp_complain("CTF trace '%s': somebody has removed %u of its packets, and what was recorded there is lost",
			    sink->path, removed);
}

/* ---- Forks ---- */

/*
 * The packets are the parent's. A handler that forks may have interrupted a
 * record, which the child still completes, or even begins: where nobody sees it.
 */
void tp_ctf_streams_forget(struct tp_ctf_sink *sink)
{
	const struct tp_stream_slot *slot = &tp_stream_slots[sink->slot];
	struct tp_ctf_stream *next;

	for (struct tp_ctf_stream *stream = sink->ring.streams; stream; stream = next) {
		bool own = tp_ctf_is_own(sink, slot) && slot->stream == &stream->head;
		next = stream->next;
		tp_ctf_packets_forget_stream(sink, stream, own);
		if (!own)
			description_give(sink, stream);
	}
	tp_ctf_packets_forget(sink);
	sink->ring.streams = NULL;
	sink->ring.pool = NULL;
	sink->ring.next_number = 0;
	sink->first_key = tp_ctf_dir_new_key(sink->dirs); /* the slot of this thread holds a stream of the parent's */
}
