/* SPDX-License-Identifier: MIT */
/*
 * ctf_stream.c - the streams of a sink, and which thread has which: from a
 * thread's first record to its exit, and across forks.
 */
#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "ctf.h"

TP_THREAD_LOCAL struct ctf_slot tp_ctf_slots[TP_CTF_SLOTS];

/* Under tp_ctf_lock. */
static struct ctf_sink *sink_of_slot[TP_CTF_SLOTS];
static uint64_t last_generation;

/* ---- The streams of a sink ---- */

static void stream_free(struct ctf_stream *stream)
{
	munmap(stream, sizeof(*stream));
}

static unsigned int take_number(struct ctf_sink *sink)
{
	pthread_mutex_lock(&tp_ctf_lock);
	unsigned int number = sink->next_number++;
	pthread_mutex_unlock(&tp_ctf_lock);
	return number;
}

/* From mmap, as a signal handler that interrupted malloc may be what needs it. */
static struct ctf_stream *stream_create(struct ctf_sink *sink)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	int error;

	if (!tp_ctf_packet_may_be_tried(sink, now))
		return NULL;
	struct ctf_stream *stream =
		mmap(NULL, sizeof(*stream), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stream == MAP_FAILED) {
		error = ENOMEM;
		goto failed;
	}
	stream->position = sizeof(*stream->packet);
	stream->last_time = now;
	do {
		/* An earlier process with this process's id may have written to the trace. */
		stream->number = take_number(sink);
		stream->packet = tp_ctf_packet_create(sink, stream, now, &error);
	} while (!stream->packet && error == EEXIST);
	if (stream->packet)
		return stream;
	stream_free(stream);
failed:
	tp_ctf_packet_failed(sink, now, error);
	return NULL;
}

static struct ctf_stream *pool_take(struct ctf_sink *sink)
{
	pthread_mutex_lock(&tp_ctf_lock);
	struct ctf_stream *stream = sink->pool;
	if (stream)
		__atomic_store_n(&sink->pool, stream->next_free, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&tp_ctf_lock);
	return stream;
}

static void list_stream(struct ctf_sink *sink, struct ctf_stream *stream)
{
	pthread_mutex_lock(&tp_ctf_lock);
	stream->next = sink->streams;
	sink->streams = stream;
	pthread_mutex_unlock(&tp_ctf_lock);
}

/* ---- The streams of a thread ---- */

/* A stream that an exited thread has left, or a new one. */
static struct ctf_stream *stream_for_thread(struct ctf_sink *sink)
{
	struct ctf_slot *slot = &tp_ctf_slots[sink->slot];

	if (!tp_thread_arm())
		return NULL;
	struct ctf_stream *stream = pool_take(sink);
	if (!stream) {
		stream = stream_create(sink);
		if (!stream)
			return NULL;
		list_stream(sink, stream);
	}
	slot->stream = stream;
	tp_barrier(); /* generation says that the stream is there */
	slot->generation = sink->generation;
	return stream;
}

struct ctf_stream *tp_ctf_stream_acquire(struct ctf_sink *sink)
{
	struct tp_guard guard;

	/* In front of the guard and its system calls: on a full disk, each record of a new thread comes here. */
	if (!__atomic_load_n(&sink->pool, __ATOMIC_RELAXED) &&
	    !tp_ctf_packet_may_be_tried(sink, clock_now(CLOCK_MONOTONIC)))
		return NULL;
	if (!tp_guard_enter(&guard))
		return NULL;
	struct ctf_stream *stream = stream_for_thread(sink);
	tp_guard_leave(&guard);
	return stream;
}

/*
 * Back into the pool of its sink, if that is still there. One in the middle
 * of a record (the thread exits inside a probe) stays out of use.
 */
static void slot_leave(unsigned int i)
{
	struct ctf_slot *slot = &tp_ctf_slots[i];
	struct ctf_sink *sink = sink_of_slot[i];
	bool current = sink && slot->generation == sink->generation;

	slot->generation = 0;
	tp_barrier(); /* before anybody else may have the stream */
	if (current && !slot->stream->nesting) {
		slot->stream->next_free = sink->pool;
		__atomic_store_n(&sink->pool, slot->stream, __ATOMIC_RELAXED);
	}
}

void tp_ctf_thread_exit(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard))
		return;
	pthread_mutex_lock(&tp_ctf_lock);
	for (unsigned int i = 0; i < TP_CTF_SLOTS; i++) {
		if (tp_ctf_slots[i].generation)
			slot_leave(i);
	}
	pthread_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
}

/* ---- From a sink's opening to its closing ---- */

bool tp_ctf_streams_begin(struct ctf_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	pthread_mutex_lock(&tp_ctf_lock);
	sink->generation = ++last_generation;
	for (sink->slot = 0; sink->slot < TP_CTF_SLOTS && sink_of_slot[sink->slot]; sink->slot++)
		;
	if (sink->slot < TP_CTF_SLOTS)
		sink_of_slot[sink->slot] = sink;
	pthread_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
	return sink->slot < TP_CTF_SLOTS;
}

static void slot_give(struct ctf_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	pthread_mutex_lock(&tp_ctf_lock);
	sink_of_slot[sink->slot] = NULL;
	pthread_mutex_unlock(&tp_ctf_lock);
	tp_guard_leave(&guard);
}

void tp_ctf_streams_end(struct ctf_sink *sink)
{
	slot_give(sink); /* from here on no exiting thread touches the streams */
	while (sink->streams) {
		struct ctf_stream *stream = sink->streams;
		sink->streams = stream->next;
		tp_ctf_packet_finish(sink, stream->packet);
		stream_free(stream);
	}
}

/* ---- Forks ---- */

void tp_ctf_before_fork(void)
{
	pthread_mutex_lock(&tp_ctf_lock);
}

void tp_ctf_after_fork(void)
{
	pthread_mutex_unlock(&tp_ctf_lock);
}

/*
 * The packets are the parent's. A handler that forks may have interrupted a
 * record, which the child still completes: into a copy that nobody sees.
 */
static void stream_forget(const struct ctf_sink *sink, struct ctf_stream *stream)
{
	const struct ctf_slot *slot = &tp_ctf_slots[sink->slot];
	bool on_its_way = stream->nesting && slot->generation == sink->generation && slot->stream == stream;

	if (on_its_way) {
		mmap(stream->packet, sink->packet_size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		return;
	}
	munmap(stream->packet, sink->packet_size);
	stream_free(stream);
}

void tp_ctf_streams_forget(struct ctf_sink *sink)
{
	struct ctf_stream *next;

	for (struct ctf_stream *stream = sink->streams; stream; stream = next) {
		next = stream->next;
		stream_forget(sink, stream);
	}
	sink->streams = NULL;
	sink->pool = NULL;
	sink->next_number = 0;
	sink->generation = ++last_generation; /* the slot of this thread holds a stream of the parent's */
}
