/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/record.c - the way of a record: it is made in scratch memory, then written as packets behind it, and these are
 * put into the thread's chunk. With the event go the packets that readers need in front of it: what was lost, the event's
 * names, and its track.
 */
#include "base/scratch.h"
#include "record/record.h"
#include "sinks/perfetto/put.h"
#include "sinks/perfetto/record.h"
#include "sinks/perfetto/stream.h"

/* Left for handlers that record meanwhile. */
#define SCRATCH_LEFT ((size_t)16 << 10)

/* Packets in front of the event's: what was lost, a process, a track. */
#define FRONT_SIZE (512 + 4 * TP_TRACK_NAME_SIZE)

/* What tp_perfetto_put() puts behind them. */
#define FILL_SIZE ((size_t)TP_CHUNK_ALIGN + 1)

void tp_perfetto_lost(struct tp_sink *head, enum tp_lost cause)
{
	struct tp_perfetto_sink *sink = (struct tp_perfetto_sink *)head;

	tp_perfetto_lose(sink, tp_perfetto_stream_of_thread(sink), cause, 1);
}

bool tp_perfetto_reserve(struct tp_record *rec)
{
	const struct tp_perfetto_sink *sink = (const struct tp_perfetto_sink *)rec->sink;

	rec->time = tp_clock_now(&sink->clock);
	rec->entry = tp_scratch_push_short(rec->size);
	if (!rec->entry)
		rec->entry = tp_scratch_push(rec->size);
	if (!rec->entry)
		tp_perfetto_lost(rec->sink, TP_LOST_NESTED);
	return rec->entry != NULL;
}

/* ---- The packets of a record ---- */

struct written {
	struct tp_perfetto_stream *stream;
	const struct tp_track_plan *plan;
	uint32_t ending;    /* of the sequence, in front of which the packets are to be */
	unsigned long lost; /* told in front */
	struct tp_placed placed;
	struct tp_track track;
	uint64_t uuid;      /* of the track; 0: the thread's */
};

static bool is_told(const struct tp_perfetto_stream *stream, uint16_t id)
{
	return stream->told[id / CHAR_BIT] & 1u << id % CHAR_BIT;
}

/* A handler may set a bit in the same byte. */
static void set_told(struct tp_perfetto_stream *stream, uint16_t id)
{
	__atomic_fetch_or(&stream->told[id / CHAR_BIT], (uint8_t)(1u << id % CHAR_BIT), __ATOMIC_RELAXED);
}

static uint64_t *track_at(struct tp_perfetto_stream *stream, uint64_t uuid)
{
	return &stream->tracks[uuid % TP_PERFETTO_TRACKS];
}

static uint64_t parent_of(const struct tp_perfetto_sink *sink, const struct written *written)
{
	const int32_t pid = written->track.pid ? written->track.pid : sink->pid;

	switch (written->track.parent) {
	case TP_PARENT_PROCESS:
		return tp_perfetto_uuid_of_process(pid);
	case TP_PARENT_THREAD:
		return written->stream->uuid;
	default:
		return 0;
	}
}

static uint64_t mixed(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static void find_track(const struct tp_perfetto_sink *sink, struct written *written, const struct tp_record *rec)
{
	if (tp_track_of_record(written->plan, rec->entry, rec->size, &written->placed, &written->track))
		written->uuid = tp_perfetto_uuid(TP_UUID_OTHER, mixed(mixed(mixed(written->track.key, written->track.key_more),
									    parent_of(sink, written)), 0) >> 4);
}

/* Another process than this one, of which nothing is known. */
static void put_parent(struct tp_proto *proto, const struct tp_perfetto_sink *sink, const struct written *written, uint64_t time)
{
	const struct tp_track *track = &written->track;

	if (track->parent != TP_PARENT_PROCESS || !track->pid || track->pid == sink->pid)
		return;
	const size_t packet = tp_perfetto_packet_begin(proto, written->stream, time, TP_SEQUENCE_NEEDS_STATE);
	const size_t descriptor = tp_proto_begin(proto, TP_PACKET_TRACK_DESCRIPTOR);
	tp_proto_number(proto, TP_TRACK_UUID, tp_perfetto_uuid_of_process(track->pid));
	const size_t process = tp_proto_begin(proto, TP_TRACK_PROCESS);
	tp_proto_number(proto, TP_PROCESS_PID, (uint64_t)track->pid);
	tp_proto_end(proto, process);
	tp_proto_end(proto, descriptor);
	tp_proto_end(proto, packet);
}

static void put_track(struct tp_proto *proto, const struct tp_perfetto_sink *sink, const struct written *written, uint64_t time)
{
	if (!written->uuid || __atomic_load_n(track_at(written->stream, written->uuid), __ATOMIC_RELAXED) == written->uuid)
		return;
	put_parent(proto, sink, written, time);
	const size_t packet = tp_perfetto_packet_begin(proto, written->stream, time, TP_SEQUENCE_NEEDS_STATE);
	tp_track_put_descriptor(proto, &written->track, written->uuid, parent_of(sink, written));
	tp_proto_end(proto, packet);
}

/* In one of the two at least, at each instant: a handler may leave the record by siglongjmp(). */
static unsigned long take_lost(struct tp_perfetto_stream *stream)
{
	unsigned long lost = __atomic_load_n(&stream->lost, __ATOMIC_RELAXED);

	if (__builtin_expect(!lost, 1))
		return 0;
	__atomic_fetch_add(&stream->telling, lost, __ATOMIC_RELAXED);
	if (__atomic_compare_exchange_n(&stream->lost, &(unsigned long){lost}, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return lost;
	__atomic_fetch_sub(&stream->telling, lost, __ATOMIC_RELAXED); /* a handler tells of them */
	return 0;
}

static void give_lost(struct tp_perfetto_stream *stream, unsigned long lost, bool is_told)
{
	if (__builtin_expect(!lost, 1))
		return;
	if (!is_told)
		__atomic_fetch_add(&stream->lost, lost, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&stream->telling, lost, __ATOMIC_RELAXED);
}

static void put_lost(struct tp_proto *proto, struct written *written, uint64_t time)
{
	written->lost = take_lost(written->stream);
	if (!written->lost)
		return;
	const size_t packet = tp_perfetto_packet_begin(proto, written->stream, time, TP_SEQUENCE_NEEDS_STATE);
	tp_track_event_put_lost(proto, 0, true, written->lost);
	tp_proto_end(proto, packet);
}

static void put_names(struct tp_proto *proto, const struct written *written, const struct tp_record *rec)
{
	const struct tp_proto *names = &written->plan->names;

	if (is_told(written->stream, rec->event->id))
		return;
	const size_t packet = tp_perfetto_packet_begin(proto, written->stream, rec->time, TP_SEQUENCE_NEEDS_STATE);
	tp_proto_append(proto, (const char *)names->bytes, names->len);
	tp_proto_end(proto, packet);
}

static void put_event(struct tp_proto *proto, const struct written *written, const struct tp_record *rec)
{
	const size_t packet = tp_perfetto_packet_begin(proto, written->stream, rec->time, TP_SEQUENCE_NEEDS_STATE);
	const size_t event = tp_proto_begin(proto, TP_PACKET_TRACK_EVENT);

	tp_track_event_put_head(proto, written->plan, &written->placed, written->uuid);
	if (written->uuid && written->placed.type == TP_TRACK_BEGIN && written->track.parent == TP_PARENT_PROCESS)
		tp_track_event_put_count(proto, "tid", (uint64_t)rec->entry->pid);
	if (written->placed.type != TP_TRACK_EVENT_COUNTER)
		tp_track_event_put_fields(proto, written->plan, rec->entry, rec->size);
	tp_proto_end(proto, event);
	tp_proto_end(proto, packet);
}

static void put_all(struct tp_proto *proto, const struct tp_perfetto_sink *sink, struct written *written, const struct tp_record *rec)
{
	put_lost(proto, written, rec->time);
	put_names(proto, written, rec);
	put_track(proto, sink, written, rec->time);
	put_event(proto, written, rec);
}

/* ---- The record ---- */

static size_t size_of(const struct written *written, const struct tp_record *rec)
{
	const size_t left = TP_SCRATCH_SIZE - (size_t)(tp_scratch_top - tp_scratch_base);
	const size_t most = left > 2 * SCRATCH_LEFT ? left - SCRATCH_LEFT : left;
	const size_t size = FILL_SIZE + FRONT_SIZE + written->plan->names.len + tp_track_event_size(written->plan, rec->size);

	return size < most ? size : most;
}

static void forget(const struct written *written, const struct tp_record *rec)
{
	__atomic_fetch_and(&written->stream->told[rec->event->id / CHAR_BIT], (uint8_t)~(1u << rec->event->id % CHAR_BIT), __ATOMIC_RELAXED);
	if (written->uuid)
		__atomic_store_n(track_at(written->stream, written->uuid), 0, __ATOMIC_RELAXED);
}

/* From here on the stream's readers know what was told in front. */
static void learn(const struct written *written, const struct tp_record *rec)
{
	if (!is_told(written->stream, rec->event->id))
		set_told(written->stream, rec->event->id);
	if (written->uuid)
		__atomic_store_n(track_at(written->stream, written->uuid), written->uuid, __ATOMIC_RELAXED);
	tp_barrier();
	if (__builtin_expect(written->stream->endings != written->ending, 0))
		forget(written, rec); /* the sequence has ended meanwhile */
}

/* Whether it is in the trace; or how many bytes of a chunk it needs: 0 where there is no memory, or it is too long. */
static bool put(struct tp_perfetto_sink *sink, struct written *written, const struct tp_record *rec, size_t *needed)
{
	const size_t size = size_of(written, rec);
	struct tp_proto proto = {.bytes = size > FILL_SIZE ? tp_scratch_push_short(size) : NULL, .size = size - FILL_SIZE};
	bool is_there = false;

	*needed = 0;
	if (!proto.bytes)
		return false;
	put_all(&proto, sink, written, rec);
	if (!proto.is_full) {
		*needed = proto.len;
		proto.size = size;
		is_there = tp_perfetto_put(sink, written->stream, written->ending, &proto);
	}
	tp_scratch_pop_short(proto.bytes);
	give_lost(written->stream, written->lost, is_there && written->stream->endings == written->ending);
	if (is_there)
		learn(written, rec);
	return is_there;
}

/* TP_NR_LOST: it is in the trace. */
static enum tp_lost commit(struct tp_perfetto_sink *sink, const struct tp_record *rec)
{
	enum tp_lost cause = TP_NR_LOST;
	size_t needed;

	for (;;) {
		struct written written; /* of which the track is not to be cleared each time */
		written.stream = tp_perfetto_stream_of_thread(sink);
		written.plan = tp_perfetto_plan_of(sink, rec->event->id);
		written.lost = 0;
		written.uuid = 0;
		if (!written.stream)
			written.stream = tp_perfetto_stream_acquire(sink, &cause);
		if (!written.stream)
			return cause;
		written.ending = written.stream->endings;
		tp_barrier(); /* before what was told is looked at */
		if (!written.plan) /* a writer that was registered by hand, of an event that came meanwhile */
			return TP_LOST_OTHER;
		find_track(sink, &written, rec);
		if (put(sink, &written, rec, &needed))
			return TP_NR_LOST;
		if (!needed)
			return TP_LOST_NESTED;
		cause = tp_perfetto_stream_go_on(sink, written.stream, needed);
		if (cause != TP_NR_LOST)
			return cause;
	}
}

void tp_perfetto_commit(struct tp_record *rec)
{
	const enum tp_lost cause = commit((struct tp_perfetto_sink *)rec->sink, rec);

	if (cause != TP_NR_LOST)
		tp_perfetto_lost(rec->sink, cause);
	tp_scratch_pop_short(rec->entry);
}
