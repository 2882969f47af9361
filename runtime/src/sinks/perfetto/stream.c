/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/stream.c - a thread's stream: packets of one sequence, in chunks that are the thread's own.
 *
 * Streams of threads that have exited are for threads that come. Such a one goes on with the sequence and its names, but on
 * its own track.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/guard.h"
#include "base/hit.h"
#include "base/locks.h"
#include "base/message.h"
#include "base/thread.h"
#include "sinks/perfetto/put.h"
#include "sinks/perfetto/stream.h"

/* A thread that records little shall take little of the disk; one that records much goes on seldom. */
#define FIRST_CHUNK ((size_t)64 << 10)
#define CHUNK ((size_t)256 << 10)

#define RETRY_AFTER 100000000u /* ns */

TP_THREAD_LOCAL struct tp_perfetto_slot tp_perfetto_slots[TP_PERFETTO_SINKS];

/* Under tp_perfetto_lock. */
static struct tp_perfetto_sink *sink_of_slot[TP_PERFETTO_SINKS];
static uint64_t last_key;

/* Where the thread puts no more. */
static void settle(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	tp_perfetto_abandon_left(sink, stream);
	stream->lost += stream->telling;
	stream->telling = 0;
}

/* ---- Chunks ---- */

static enum tp_lost fail(struct tp_perfetto_sink *sink, int error)
{
	sink->error = error;
	__atomic_store_n(&sink->retry_at, tp_clock_now(&sink->clock) + RETRY_AFTER, __ATOMIC_RELAXED);
	if (!__atomic_exchange_n(&sink->complained, true, __ATOMIC_RELAXED))
		tp_complain("Perfetto output '%s': it can't grow: %s; records are lost until it can", sink->file.path, tp_strerror(error));
	return error == ENOMEM ? TP_LOST_OTHER : TP_LOST_NO_FILE;
}

/* There was no room a moment ago: each record would make the same system calls. */
static bool may_be_tried(const struct tp_perfetto_sink *sink)
{
	const uint64_t retry_at = __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED);

	return !retry_at || tp_clock_now(&sink->clock) >= retry_at;
}

static void end_chunk(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	tp_perfetto_chunk_end(sink, &stream->chunk, (size_t)(stream->broken ? stream->copied : stream->position));
}

/* The stream's next chunk has room for so many bytes. In tp_guard_enter(), under tp_perfetto_lock. */
static enum tp_lost next_chunk(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, size_t size)
{
	const size_t usual = stream->chunk.size ? CHUNK : FIRST_CHUNK;
	struct tp_perfetto_chunk chunk;

	size += 2 * TP_CHUNK_ALIGN + TP_PERFETTO_LOST_ROOM;
	const int error = tp_perfetto_chunk_claim(sink, size > usual ? size : usual, &chunk);
	if (error)
		return fail(sink, error);
	/* That a first chunk has room does not say that others have. */
	if (chunk.size >= CHUNK)
		__atomic_store_n(&sink->complained, false, __ATOMIC_RELAXED);
	__atomic_store_n(&sink->retry_at, 0, __ATOMIC_RELAXED);
	end_chunk(sink, stream);
	stream->chunk = chunk;
	stream->position = stream->finished = stream->copied = 0;
	stream->broken = false;
	return TP_NR_LOST;
}

/* ---- What a sequence says in front of its events; in tp_guard_enter() ---- */

static void put_process(struct tp_proto *proto, const struct tp_perfetto_sink *sink)
{
	const size_t descriptor = tp_proto_begin(proto, TP_PACKET_TRACK_DESCRIPTOR);

	tp_proto_number(proto, TP_TRACK_UUID, tp_perfetto_uuid_of_process(sink->pid));
	const size_t process = tp_proto_begin(proto, TP_TRACK_PROCESS);
	tp_proto_number(proto, TP_PROCESS_PID, (uint64_t)sink->pid);
	if (*sink->program)
		tp_proto_text(proto, TP_PROCESS_COMMAND_LINE, sink->program, sizeof(sink->program));
	tp_proto_text(proto, TP_PROCESS_NAME, tp_program_name, sizeof(tp_program_name));
	tp_proto_end(proto, process);
	tp_proto_end(proto, descriptor);
}

static void put_thread(struct tp_proto *proto, const struct tp_perfetto_sink *sink, const struct tp_perfetto_stream *stream)
{
	const size_t descriptor = tp_proto_begin(proto, TP_PACKET_TRACK_DESCRIPTOR);

	tp_proto_number(proto, TP_TRACK_UUID, stream->uuid);
	const size_t thread = tp_proto_begin(proto, TP_TRACK_THREAD);
	tp_proto_number(proto, TP_THREAD_PID, (uint64_t)sink->pid);
	tp_proto_number(proto, TP_THREAD_TID, (uint64_t)tp_thread_id());
	tp_proto_text(proto, TP_THREAD_NAME, stream->name, sizeof(stream->name));
	tp_proto_end(proto, thread);
	tp_proto_end(proto, descriptor);
}

/* What holds for all packets that do not say it themselves. */
static void put_defaults(struct tp_proto *proto, const struct tp_perfetto_stream *stream, uint64_t time)
{
	const uint64_t flags = stream->has_begun ? TP_SEQUENCE_NEEDS_STATE : TP_SEQUENCE_STATE_CLEARED;
	const size_t packet = tp_perfetto_packet_begin(proto, stream, time, flags);

	tp_proto_number(proto, TP_PACKET_TIMESTAMP_CLOCK, TP_BUILTIN_MONOTONIC);
	const size_t defaults = tp_proto_begin(proto, TP_PACKET_DEFAULTS);
	tp_proto_number(proto, TP_DEFAULTS_TIMESTAMP_CLOCK, TP_BUILTIN_MONOTONIC);
	const size_t event = tp_proto_begin(proto, TP_DEFAULTS_TRACK_EVENT);
	tp_proto_number(proto, TP_DEFAULTS_TRACK_UUID, stream->uuid);
	tp_proto_end(proto, event);
	tp_proto_end(proto, defaults);
	tp_proto_end(proto, packet);
}

#define BEGIN_SIZE (PATH_MAX * 4 + 2048)

/* The thread is the stream's, which may be new; or it has another name. */
static bool put_begin(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	const uint64_t time = tp_clock_now(&sink->clock);
	struct tp_proto proto = {.bytes = tp_scratch_push(BEGIN_SIZE), .size = BEGIN_SIZE};

	if (!proto.bytes)
		return false;
	put_defaults(&proto, stream, time);
	if (!stream->has_begun) {
		const size_t packet = tp_perfetto_packet_begin(&proto, stream, time, TP_SEQUENCE_NEEDS_STATE);
		put_process(&proto, sink);
		tp_proto_end(&proto, packet);
	}
	const size_t packet = tp_perfetto_packet_begin(&proto, stream, time, TP_SEQUENCE_NEEDS_STATE);
	put_thread(&proto, sink, stream);
	tp_proto_end(&proto, packet);
	const bool is_there = tp_perfetto_put_leaving(sink, stream, stream->endings, &proto, TP_PERFETTO_LOST_ROOM);
	tp_scratch_pop(proto.bytes);
	return is_there && !stream->broken;
}

/* True: it is another one than before. */
static bool take_name(struct tp_perfetto_stream *stream)
{
	char name[TP_PERFETTO_NAME_SIZE] = "";

	prctl(PR_GET_NAME, name);
	const bool is_new = memcmp(name, stream->name, sizeof(name)) != 0;
	memcpy(stream->name, name, sizeof(name));
	return is_new;
}

/* ---- Streams ---- */

static struct tp_perfetto_stream *stream_new(struct tp_perfetto_sink *sink)
{
	struct tp_perfetto_stream *stream = sink->unused;

	if (stream) {
		sink->unused = stream->next;
		memset(stream, 0, sizeof(*stream));
	} else {
		void *memory = mmap(NULL, sizeof(*stream), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		stream = memory;
	}
	return stream;
}

static struct tp_perfetto_stream *pool_take(struct tp_perfetto_sink *sink)
{
	struct tp_perfetto_stream *stream = sink->pool;

	if (stream)
		__atomic_store_n(&sink->pool, stream->next_free, __ATOMIC_RELAXED);
	return stream;
}

static void pool_give(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	stream->next_free = sink->pool;
	__atomic_store_n(&sink->pool, stream, __ATOMIC_RELAXED);
}

static struct tp_perfetto_stream *stream_create(struct tp_perfetto_sink *sink, enum tp_lost *cause)
{
	struct tp_perfetto_stream *stream = stream_new(sink);

	*cause = TP_LOST_OTHER;
	if (!stream)
		return NULL;
	*cause = next_chunk(sink, stream, BEGIN_SIZE);
	if (*cause != TP_NR_LOST) {
		stream->next = sink->unused;
		sink->unused = stream;
		return NULL;
	}
	stream->sequence = tp_perfetto_sequence(sink);
	stream->next = sink->streams;
	sink->streams = stream;
	return stream;
}

/* What was told of names is lost, if there were any. */
static void begin_again(struct tp_perfetto_stream *stream)
{
	memset(stream->told, 0, sizeof(stream->told));
	memset(stream->tracks, 0, sizeof(stream->tracks));
}

static bool sequence_begin(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	if (!stream->has_begun)
		begin_again(stream);
	if (!put_begin(sink, stream) &&
	    (!may_be_tried(sink) || next_chunk(sink, stream, BEGIN_SIZE) != TP_NR_LOST || !put_begin(sink, stream)))
		return false;
	stream->has_begun = true;
	return true;
}

static bool begin_for_thread(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	const uint64_t thread = (uint64_t)(uint32_t)sink->pid << 30 | (uint32_t)tp_thread_id();

	stream->uuid = tp_perfetto_uuid(TP_UUID_THREAD, thread);
	take_name(stream);
	if (!sequence_begin(sink, stream))
		return false;
	stream->lost += __atomic_exchange_n(&sink->homeless, 0, __ATOMIC_RELAXED);
	return true;
}

/* Under tp_perfetto_lock. */
static struct tp_perfetto_stream *stream_for_thread(struct tp_perfetto_sink *sink, enum tp_lost *cause)
{
	struct tp_perfetto_slot *slot = &tp_perfetto_slots[sink->slot];
	struct tp_perfetto_stream *stream = tp_perfetto_stream_of_thread(sink);

	if (stream) /* a handler was faster */
		return stream;
	stream = pool_take(sink);
	if (!stream)
		stream = stream_create(sink, cause);
	if (!stream)
		return NULL;
	if (!begin_for_thread(sink, stream)) {
		*cause = TP_LOST_NO_FILE;
		pool_give(sink, stream);
		return NULL;
	}
	slot->stream = stream;
	tp_barrier(); /* the key says that the stream is there */
	slot->key = sink->key;
	return stream;
}

/* Back into the pool of its sink, if that is still there. */
static void slot_leave(unsigned int i)
{
	struct tp_perfetto_slot *slot = &tp_perfetto_slots[i];
	struct tp_perfetto_sink *sink = sink_of_slot[i];
	const bool is_current = sink && slot->key == sink->key;
	struct tp_perfetto_stream *stream = slot->stream;

	slot->key = 0;
	tp_barrier(); /* before anybody else may have the stream */
	if (!is_current)
		return;
	settle(sink, stream);
	pool_give(sink, stream);
}

static void leave(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard))
		return;
	tp_mutex_lock(&tp_perfetto_lock);
	for (unsigned int i = 0; i < TP_PERFETTO_SINKS; i++) {
		if (tp_perfetto_slots[i].key)
			slot_leave(i);
	}
	tp_mutex_unlock(&tp_perfetto_lock);
	tp_guard_leave(&guard);
}

struct tp_perfetto_stream *tp_perfetto_stream_acquire(struct tp_perfetto_sink *sink, enum tp_lost *cause)
{
	struct tp_perfetto_stream *stream = NULL;
	struct tp_guard guard;

	/* In front of the guard and its system calls: on a full disk, each record of a new thread comes here. */
	*cause = TP_LOST_NO_FILE;
	if (!__atomic_load_n(&sink->pool, __ATOMIC_RELAXED) && !may_be_tried(sink))
		return NULL;
	*cause = TP_LOST_NESTED;
	if (!tp_guard_enter_slow_way(&guard))
		return NULL;
	*cause = TP_LOST_OTHER;
	if (tp_thread_arm(leave)) {
		tp_mutex_lock(&tp_perfetto_lock);
		stream = stream_for_thread(sink, cause);
		tp_mutex_unlock(&tp_perfetto_lock);
	}
	tp_guard_leave(&guard);
	return stream;
}

static enum tp_lost go_on(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, size_t size)
{
	enum tp_lost cause = TP_NR_LOST;

	tp_perfetto_abandon_left(sink, stream);
	/* Else a handler has gone on, and there is room. */
	if (stream->broken || stream->chunk.size - stream->position < size + 2 * TP_CHUNK_ALIGN + TP_PERFETTO_LOST_ROOM)
		cause = next_chunk(sink, stream, size);
	if (cause == TP_NR_LOST && (take_name(stream) || !stream->has_begun))
		sequence_begin(sink, stream);
	return cause == TP_NR_LOST && !stream->has_begun ? TP_LOST_NO_FILE : cause;
}

enum tp_lost tp_perfetto_stream_go_on(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream, size_t size)
{
	enum tp_lost cause = TP_NR_LOST;
	struct tp_guard guard;

	if (stream->frame && !tp_perfetto_was_left(stream, TP_HIT_FRAME))
		return TP_LOST_NESTED;
	if (!may_be_tried(sink))
		return TP_LOST_NO_FILE;
	if (!tp_guard_enter_slow_way(&guard))
		return TP_LOST_NESTED;
	tp_mutex_lock(&tp_perfetto_lock);
	/* A handler may have forked, and the stream be the parent's. */
	if (tp_perfetto_stream_of_thread(sink) == stream)
		cause = go_on(sink, stream, size);
	tp_mutex_unlock(&tp_perfetto_lock);
	tp_guard_leave(&guard);
	return cause;
}

/* ---- From a sink's opening to its closing ---- */

bool tp_perfetto_streams_begin(struct tp_perfetto_sink *sink)
{
	struct tp_guard guard;
	uint32_t slot = 0;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_perfetto_lock);
	while (slot < TP_PERFETTO_SINKS && sink_of_slot[slot])
		slot++;
	if (slot < TP_PERFETTO_SINKS)
		sink_of_slot[slot] = sink;
	sink->slot = slot;
	sink->key = ++last_key;
	tp_mutex_unlock(&tp_perfetto_lock);
	tp_guard_leave(&guard);
	return slot < TP_PERFETTO_SINKS;
}

/* What nobody has told yet. */
static void tell_lost(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	unsigned char bytes[256];
	struct tp_proto proto = {.bytes = bytes, .size = sizeof(bytes)};
	const uint64_t time = tp_clock_now(&sink->clock);

	stream->lost += sink->homeless;
	sink->homeless = 0;
	if (!stream->lost)
		return;
	if (stream->broken && next_chunk(sink, stream, sizeof(bytes)) != TP_NR_LOST) {
		sink->homeless = stream->lost; /* another one may tell of them */
		return;
	}
	if (!stream->has_begun)
		put_defaults(&proto, stream, time);
	const size_t packet = tp_perfetto_packet_begin(&proto, stream, time, TP_SEQUENCE_NEEDS_STATE);
	tp_track_event_put_lost(&proto, 0, true, stream->lost);
	tp_proto_end(&proto, packet);
	tp_perfetto_put_leaving(sink, stream, stream->endings, &proto, 0);
}

static void free_all(struct tp_perfetto_stream *stream)
{
	while (stream) {
		struct tp_perfetto_stream *next = stream->next;
		tp_perfetto_chunk_unmap(&stream->chunk);
		munmap(stream, sizeof(*stream));
		stream = next;
	}
}

void tp_perfetto_streams_end(struct tp_perfetto_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_perfetto_lock);
	if (sink->slot < TP_PERFETTO_SINKS)
		sink_of_slot[sink->slot] = NULL; /* from here on no exiting thread touches the streams */
	for (struct tp_perfetto_stream *stream = sink->streams; stream; stream = stream->next) {
		settle(sink, stream);
		tell_lost(sink, stream);
		end_chunk(sink, stream);
	}
	free_all(sink->streams);
	free_all(sink->unused);
	free_all(sink->left);
	tp_mutex_unlock(&tp_perfetto_lock);
	tp_guard_leave(&guard);
}

/* ---- Forks ---- */

/* The stream of the thread that forks: a handler may have interrupted it while it put packets, and the child goes on with that. */
static void hide(struct tp_perfetto_sink *sink, struct tp_perfetto_stream *stream)
{
	struct tp_perfetto_chunk *chunk = &stream->chunk;

	if (chunk->file != chunk->memory) {
		munmap(chunk->file, chunk->size);
		chunk->file = chunk->memory;
	} else {
		mmap(chunk->memory, chunk->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	stream->next = sink->left;
	sink->left = stream;
}

void tp_perfetto_streams_forget(struct tp_perfetto_sink *sink)
{
	struct tp_perfetto_slot *slot = &tp_perfetto_slots[sink->slot];
	struct tp_perfetto_stream *next;

	for (struct tp_perfetto_stream *stream = sink->streams; stream; stream = next) {
		next = stream->next;
		if (slot->key == sink->key && slot->stream == stream) {
			hide(sink, stream);
			continue;
		}
		tp_perfetto_chunk_unmap(&stream->chunk);
		stream->next = sink->unused;
		sink->unused = stream;
	}
	sink->streams = sink->pool = NULL;
	sink->homeless = 0;
	sink->retry_at = 0;
	sink->key = ++last_key;
}
