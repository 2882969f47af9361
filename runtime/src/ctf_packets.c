/* SPDX-License-Identifier: MIT */
/*
 * ctf_packets.c - the packets of a sink: how many there may be, which one
 * goes for another, and that the next is there when it is needed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ctf.h"

/* On a full disk: nanoseconds until the next packet is tried for. */
#define RETRY_AFTER 100000000u

/* What is made present at once: it takes some microseconds. */
#define SLICE ((size_t)64 << 10)

#define CHUNK ((size_t)64 << 10)

/* ---- Descriptions: they are needed in signal handlers that have interrupted malloc ---- */

void *tp_ctf_description_new(struct ctf_sink *sink, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if (sink->chunk_left < size) {
		char *chunk = mmap(NULL, CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (chunk == MAP_FAILED)
			return NULL;
		*(char **)(void *)chunk = sink->chunk; /* the one before it */
		sink->chunk = chunk;
		sink->chunk_left = CHUNK - 16;
	}
	sink->chunk_left -= size;
	return sink->chunk + CHUNK - sink->chunk_left - size;
}

void tp_ctf_descriptions_free(struct ctf_sink *sink)
{
	while (sink->chunk) {
		char *chunk = sink->chunk;
		sink->chunk = *(char **)(void *)chunk;
		munmap(chunk, CHUNK);
	}
}

static struct ctf_packet *description_take(struct ctf_sink *sink)
{
	struct ctf_packet *packet = sink->unused_packets;

	if (!packet)
		return tp_ctf_description_new(sink, sizeof(*packet));
	sink->unused_packets = packet->next;
	*packet = (struct ctf_packet){.life = packet->life + 1};
	return packet;
}

static void description_give(struct ctf_sink *sink, struct ctf_packet *packet)
{
	packet->memory = NULL;
	packet->life++;
	packet->next = sink->unused_packets;
	sink->unused_packets = packet;
}

/* ---- The closed packets, of which the oldest goes first. Under tp_ctf_lock ---- */

static void closed_add(struct ctf_sink *sink, struct ctf_packet *packet)
{
	packet->next = NULL;
	*sink->newest_next = packet;
	sink->newest_next = &packet->next;
}

/*
 * The oldest, of this stream, if that is not NULL. While it is being copied,
 * none: a younger one would leave a gap behind.
 */
static struct ctf_packet *closed_take(struct ctf_sink *sink, const struct ctf_stream *stream)
{
	for (struct ctf_packet **at = &sink->oldest; *at; at = &(*at)->next) {
		struct ctf_packet *packet = *at;
		if (stream && packet->stream != stream)
			continue;
		if (packet->copied)
			return NULL;
		*at = packet->next;
		if (sink->newest_next == &packet->next)
			sink->newest_next = at;
		__atomic_fetch_sub(&packet->stream->packets, 1, __ATOMIC_RELAXED);
		packet->life++;
		return packet;
	}
	return NULL;
}

/* Whether there is one that may not go only because it is being copied. */
static bool closed_is_copied(const struct ctf_sink *sink, const struct ctf_stream *stream)
{
	for (const struct ctf_packet *packet = sink->oldest; packet; packet = packet->next) {
		if (packet->copied && (!stream || packet->stream == stream))
			return true;
	}
	return false;
}

/* ---- Room: under tp_ctf_lock, too, but for first looks ---- */

/* Only a first look where it is not. */
static bool is_too_much(const struct ctf_sink *sink, const struct ctf_stream *stream)
{
	return (stream && __atomic_load_n(&stream->packets, __ATOMIC_RELAXED) >= sink->options.packets) ||
	       __atomic_load_n(&sink->room, __ATOMIC_RELAXED) > sink->options.size - sink->options.packet;
}

/* What a new packet of the stream is to be made of. */
struct plan {
	struct ctf_packet *packet;
	struct ctf_packet *goes; /* closed ones whose files are to be removed before, by their next */
	bool recycle;            /* the packet is one that was closed */
};

/*
 * For one that was being copied, or that was not made yet, another was made
 * beyond the limits: that one is not needed any more.
 */
static bool is_over(const struct ctf_sink *sink, const struct ctf_stream *stream)
{
	return stream->packets >= sink->options.packets || sink->room > sink->options.size;
}

/* A flight recorder goes round in what it has, where the disk is full. */
static bool may_create(const struct ctf_sink *sink)
{
	return !sink->options.flight || !sink->options.overwrite || tp_ctf_packets_may_be_tried(sink, NULL);
}

/*
 * There is no closed packet that may go. The thread's own current one may,
 * rather than that nothing new is recorded, unless this is ahead of need.
 */
static bool make_room_in_own(struct ctf_sink *sink, struct ctf_stream *stream, bool ahead, struct plan *plan)
{
	struct ctf_packet *own = stream->packet;

	if (ahead || !sink->options.overwrite || !own || own->copied)
		return false;
	own->life++;
	plan->packet = own;
	plan->recycle = true;
	return true;
}

/*
 * Whose oldest packet is to go for one of the stream's: its own, if it has
 * its share of all; that is also in this processor's cache. NULL: anybody's.
 */
static const struct ctf_stream *who_gives(const struct ctf_sink *sink, const struct ctf_stream *stream)
{
	bool share = stream->packets * sink->nr_streams * sink->options.packet >= sink->room;

	return stream->packets >= sink->options.packets || (share && stream->packets > 1) ? stream : NULL;
}

static bool make_room(struct ctf_sink *sink, struct ctf_stream *stream, bool ahead, struct plan *plan)
{
	bool create = may_create(sink);

	while (!create || is_too_much(sink, stream)) {
		const struct ctf_stream *whose = who_gives(sink, stream);
		struct ctf_packet *old = sink->options.overwrite ? closed_take(sink, whose) : NULL;
		if (!old && sink->options.overwrite && stream->packets < sink->options.packets)
			old = closed_take(sink, NULL); /* its own are only prepared, or are being copied */
		if (!old && create && sink->options.overwrite && (sink->making || closed_is_copied(sink, whose)))
			return true;
		if (!old)
			return make_room_in_own(sink, stream, ahead, plan);
		if (!create || (sink->options.flight && !is_over(sink, stream))) {
			plan->packet = old;
			plan->recycle = true;
			return true;
		}
		__atomic_fetch_sub(&sink->room, old->room, __ATOMIC_RELAXED);
		old->next = plan->goes;
		plan->goes = old;
	}
	return true;
}

static enum tp_lost make_plan(struct ctf_sink *sink, struct ctf_stream *stream, bool ahead, struct plan *plan)
{
	enum tp_lost result = TP_NR_LOST;

	pthread_mutex_lock(&tp_ctf_lock);
	if (!make_room(sink, stream, ahead, plan)) {
		result = may_create(sink) ? TP_LOST_LIMIT : TP_LOST_NO_FILE;
	} else if (!plan->packet) {
		plan->packet = description_take(sink);
		if (plan->packet) {
			plan->packet->room = sink->options.packet;
			__atomic_fetch_add(&sink->room, plan->packet->room, __ATOMIC_RELAXED);
		} else {
			result = TP_LOST_OTHER;
		}
	}
	if (result == TP_NR_LOST && plan->packet != stream->packet) {
		plan->packet->stream = stream;
		__atomic_fetch_add(&stream->packets, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&tp_ctf_lock);
	return result;
}

static void give_back(struct ctf_sink *sink, struct ctf_packet *packet)
{
	pthread_mutex_lock(&tp_ctf_lock);
	__atomic_fetch_sub(&packet->stream->packets, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&sink->room, packet->room, __ATOMIC_RELAXED);
	description_give(sink, packet);
	pthread_mutex_unlock(&tp_ctf_lock);
}

/* ---- Making the next one ---- */

static bool is_prepared(const struct ctf_stream *stream)
{
	return __atomic_load_n(&stream->prepared, __ATOMIC_RELAXED) != NULL;
}

bool tp_ctf_packets_may_be_tried(const struct ctf_sink *sink, const struct ctf_stream *stream)
{
	uint64_t retry_at = __atomic_load_n(&sink->retry_at, __ATOMIC_RELAXED);

	return (stream && is_prepared(stream)) || !retry_at || tp_ctf_clock() >= retry_at;
}

bool tp_ctf_packets_are_full(const struct ctf_sink *sink, const struct ctf_stream *stream)
{
	return !sink->options.overwrite && !(stream && is_prepared(stream)) && is_too_much(sink, stream);
}

/* It is said once, and for a while no other is to be tried for. */
static void failed(struct ctf_sink *sink, int error)
{
	if (!__atomic_exchange_n(&sink->no_room_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': no new packet of %zu bytes can be made: %s%s; records are lost until it can",
			    sink->path, sink->options.packet, strerror(error), tp_ctf_remedy(error));
	__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	__atomic_store_n(&sink->retry_at, tp_ctf_clock() + RETRY_AFTER, __ATOMIC_RELAXED);
}

static void remove_all(struct ctf_sink *sink, struct ctf_packet *packet)
{
	while (packet) {
		struct ctf_packet *next = packet->next;
		tp_ctf_packet_remove(sink, packet, false);
		pthread_mutex_lock(&tp_ctf_lock);
		description_give(sink, packet);
		pthread_mutex_unlock(&tp_ctf_lock);
		packet = next;
	}
}

/*
 * The name of the stream's next packet. An earlier process with this one's id
 * may have written to the trace: then no stream of ours may be called as one of its is.
 */
static void name_it(struct ctf_sink *sink, struct ctf_stream *stream, struct ctf_packet *packet)
{
	pthread_mutex_lock(&tp_ctf_lock);
	if (!stream->shown && stream->sequence) {
		stream->number = sink->next_number++;
		stream->sequence = 0;
	}
	packet->number = stream->number;
	packet->sequence = stream->sequence++;
	pthread_mutex_unlock(&tp_ctf_lock);
}

/* An overwriting sink has no packet for a thread: its user hardly expects that. */
static void complain_of_limit(struct ctf_sink *sink)
{
	if (sink->options.overwrite && !__atomic_exchange_n(&sink->limit_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': size= holds %llu packets of %zu bytes, and all are in use: records of further "
			    "threads are lost; a larger size= or a smaller packet= is needed",
			    sink->path, (unsigned long long)(sink->options.size / sink->options.packet),
			    sink->options.packet);
}

/* The plan can't be carried out. */
static void drop(struct ctf_sink *sink, struct ctf_stream *stream, struct plan *plan, const struct ctf_packet *was)
{
	if (plan->packet == stream->packet) { /* it stays */
		pthread_mutex_lock(&tp_ctf_lock);
		plan->packet->number = was->number;
		plan->packet->sequence = was->sequence;
		pthread_mutex_unlock(&tp_ctf_lock);
		return;
	}
	tp_ctf_packet_unmap(sink, plan->packet); /* of a recycled one, somebody has taken the file away */
	give_back(sink, plan->packet);
}

/* A hidden file for the stream's next packet. */
static enum tp_lost make(struct ctf_sink *sink, struct ctf_stream *stream, bool ahead, struct ctf_packet **made)
{
	struct plan plan = {.packet = NULL};
	enum tp_lost result = make_plan(sink, stream, ahead, &plan);
	int error;

	remove_all(sink, plan.goes);
	if (result == TP_LOST_LIMIT && !ahead)
		complain_of_limit(sink);
	if (result != TP_NR_LOST)
		return result;
	const struct ctf_packet was = *plan.packet;
	int tries = 2;
	do {
		name_it(sink, stream, plan.packet);
		error = plan.recycle ? tp_ctf_packet_recycle(sink, plan.packet, &was)
				     : tp_ctf_packet_create(sink, plan.packet);
	} while (error == EEXIST || (error == EBADF && --tries)); /* descriptors are closed all at once */
	if (error) {
		drop(sink, stream, &plan, &was);
		failed(sink, error);
		return plan.recycle || may_create(sink) ? TP_LOST_NO_FILE : make(sink, stream, ahead, made);
	}
	if (!plan.recycle)
		plan.packet->warm = 0;
	*made = plan.packet;
	return TP_NR_LOST;
}

/* Bytes of a packet that are made present at once, or of which the last are its end. */
static size_t slice_of(const struct ctf_sink *sink)
{
	return sink->options.packet / 2 < SLICE ? sink->options.packet / 2 : SLICE;
}

static void warm(const struct ctf_sink *sink, struct ctf_packet *packet, size_t at_least)
{
	size_t to = packet->warm + slice_of(sink);

	if (to < at_least)
		to = at_least;
	if (to > sink->options.packet)
		to = sink->options.packet;
	tp_ctf_packet_warm(packet->memory, packet->warm, to);
	packet->warm = to;
}

/* ---- From one to the next ---- */

/* What no stream could count, one that comes later does. */
static unsigned long take_homeless(struct ctf_sink *sink)
{
	return __atomic_load_n(&sink->homeless, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(&sink->homeless, 0, __ATOMIC_RELAXED)
		       : 0;
}

/* Gives the packet its head and its name. 0 or an error, and then it is gone. */
static int show(struct ctf_sink *sink, struct ctf_stream *stream, struct ctf_packet *packet)
{
	unsigned long homeless = take_homeless(sink);
	uint64_t discarded = stream->packet ? stream->packet->memory->events_discarded : 0;

	stream->carried = discarded;
	/* Not before the end of the old one. */
	uint64_t time = tp_stream_time(&stream->head, tp_clock_now(&sink->clock));

	int error = tp_ctf_packet_begin(sink, packet, time, discarded + homeless);
	if (!error)
		return 0;
	__atomic_fetch_add(&sink->homeless, homeless, __ATOMIC_RELAXED);
	if (packet != stream->packet) {
		tp_ctf_packet_remove(sink, packet, true);
		give_back(sink, packet);
	}
	if (error != EEXIST)
		failed(sink, error);
	return error;
}

/* The old packet is complete: what becomes of it. */
static void close_packet(struct ctf_sink *sink, struct ctf_packet *packet)
{
	if (sink->options.flight)
		return;
	size_t unused = tp_ctf_packet_finish(sink, packet);
	pthread_mutex_lock(&tp_ctf_lock);
	packet->room -= unused;
	__atomic_fetch_sub(&sink->room, unused, __ATOMIC_RELAXED);
	if (sink->options.overwrite)
		closed_add(sink, packet);
	else
		description_give(sink, packet);
	pthread_mutex_unlock(&tp_ctf_lock);
}

/* Somebody else is to prepare the stream's next packet, and to close the old one, unless that may have to go soon. */
static bool leave_to_preparer(struct ctf_sink *sink, struct ctf_stream *stream, struct ctf_packet *old)
{
	bool leave = old && !sink->options.overwrite && !sink->options.flight;

	pthread_mutex_lock(&tp_ctf_lock);
	stream->wants_packet = true;
	if (leave) {
		old->next = NULL;
		*sink->full_end = old;
		sink->full_end = &old->next;
	}
	pthread_mutex_unlock(&tp_ctf_lock);
	tp_ctf_preparer_wake(sink);
	return leave;
}

static void go_on(struct ctf_sink *sink, struct ctf_stream *stream, struct ctf_packet *packet)
{
	struct tp_stream *head = &stream->head;
	struct ctf_packet *old = stream->packet != packet ? stream->packet : NULL;

	pthread_mutex_lock(&tp_ctf_lock);
	stream->packet = packet;
	stream->shown++;
	if (old && sink->options.flight)
		closed_add(sink, old);
	pthread_mutex_unlock(&tp_ctf_lock);
	if (old) /* what was lost since */
		packet->memory->events_discarded += old->memory->events_discarded - stream->carried;
	head->packet = packet->memory;
	if (stream->shown > 1)
		head->start += sink->options.packet;
	head->base = (uintptr_t)head->packet - (uintptr_t)head->start;
	head->published = head->start + sizeof(struct tp_packet);
	__atomic_store_n(&head->position, head->published, __ATOMIC_RELAXED);
	bool left = sink->preparing && leave_to_preparer(sink, stream, old);
	if (old && !left)
		close_packet(sink, old);
}

static void set_limit(struct ctf_stream *stream, uint64_t limit)
{
	tp_barrier(); /* the packet is there before the room in it, and there is no room while it changes */
	__atomic_store_n(&stream->head.limit, limit, __ATOMIC_RELAXED);
	tp_barrier();
}

enum tp_lost tp_ctf_packets_switch(struct ctf_sink *sink, struct ctf_stream *stream)
{
	struct ctf_packet *packet;
	enum tp_lost result = TP_NR_LOST;
	int error = 0;

	set_limit(stream, 0);
	do {
		packet = __atomic_exchange_n(&stream->prepared, NULL, __ATOMIC_ACQUIRE);
		if (!packet)
			result = make(sink, stream, false, &packet);
		if (result == TP_NR_LOST)
			error = show(sink, stream, packet);
	} while (result == TP_NR_LOST && error == EEXIST);
	if (result == TP_NR_LOST && error)
		result = TP_LOST_NO_FILE;
	if (result == TP_NR_LOST)
		go_on(sink, stream, packet);
	if (stream->packet) {
		if (!stream->packet->warm)
			warm(sink, stream->packet, 0);
		/* Where it has failed, the old packet stays, full as it is: it counts what is lost. */
		set_limit(stream, stream->head.start + stream->packet->warm);
	}
	return result;
}

/* Where one can't be had now, or only for another, it is too early to say so. */
static void prepare(struct ctf_sink *sink, struct ctf_stream *stream, size_t at_least)
{
	struct ctf_packet *packet;

	pthread_mutex_lock(&tp_ctf_lock);
	/* Where old ones are overwritten, those that are only prepared must not be all that there is. */
	bool may = !is_too_much(sink, stream) &&
		   (!sink->options.overwrite || sink->room <= sink->options.size / 2);
	sink->making++;
	pthread_mutex_unlock(&tp_ctf_lock);
	if (may && tp_ctf_packets_may_be_tried(sink, NULL) && make(sink, stream, true, &packet) == TP_NR_LOST) {
		warm(sink, packet, at_least);
		__atomic_store_n(&stream->prepared, packet, __ATOMIC_RELEASE);
	}
	pthread_mutex_lock(&tp_ctf_lock);
	sink->making--;
	pthread_mutex_unlock(&tp_ctf_lock);
}

bool tp_ctf_packets_widen(struct ctf_sink *sink, struct ctf_stream *stream, size_t end)
{
	struct ctf_packet *packet = stream->packet;

	if (packet->warm == sink->options.packet)
		return false;
	warm(sink, packet, end);
	if (packet->warm == sink->options.packet && !sink->preparing && !is_prepared(stream))
		prepare(sink, stream, 0); /* ahead of need */
	set_limit(stream, stream->head.start + packet->warm);
	return true;
}

/* ---- The preparer's work ---- */

static struct ctf_packet *take_full(struct ctf_sink *sink)
{
	pthread_mutex_lock(&tp_ctf_lock);
	struct ctf_packet *packet = sink->full;
	if (packet)
		sink->full = packet->next;
	if (!sink->full)
		sink->full_end = &sink->full;
	pthread_mutex_unlock(&tp_ctf_lock);
	return packet;
}

static struct ctf_stream *take_wanting(struct ctf_sink *sink)
{
	struct ctf_stream *stream;

	pthread_mutex_lock(&tp_ctf_lock);
	for (stream = sink->streams; stream && !stream->wants_packet; stream = stream->next)
		;
	if (stream)
		stream->wants_packet = false;
	pthread_mutex_unlock(&tp_ctf_lock);
	return stream;
}

void tp_ctf_packets_work(struct ctf_sink *sink)
{
	struct ctf_stream *stream;
	struct ctf_packet *packet;

	/* What threads may be waiting for comes first. */
	while ((stream = take_wanting(sink))) {
		if (!is_prepared(stream))
			prepare(sink, stream, sink->options.packet);
	}
	while ((packet = take_full(sink)))
		close_packet(sink, packet);
}

/* ---- The end ---- */

void tp_ctf_packets_end_stream(struct ctf_sink *sink, struct ctf_stream *stream)
{
	unsigned long homeless = take_homeless(sink);

	if (homeless)
		__atomic_fetch_add(&stream->head.packet->events_discarded, homeless, __ATOMIC_RELAXED);
	if (stream->prepared)
		tp_ctf_packet_remove(sink, stream->prepared, true);
	tp_ctf_packet_finish(sink, stream->packet);
}

void tp_ctf_packets_end(struct ctf_sink *sink)
{
	struct ctf_packet *packet;

	for (packet = sink->oldest; packet; packet = packet->next) {
		if (packet->memory)
			tp_ctf_packet_finish(sink, packet);
	}
	sink->oldest = NULL;
	sink->newest_next = &sink->oldest;
	while ((packet = take_full(sink)))
		close_packet(sink, packet);
}

/* In the packet's place the child gets memory of its own, with what a record on its way has in it already. */
static void replace_packet(struct ctf_sink *sink, const struct ctf_stream *stream)
{
	const struct tp_stream *head = &stream->head;
	size_t size = sink->options.packet;
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return;
	if (tp_ctf_stream_is_busy(stream))
		memcpy(copy, head->packet, (size_t)(head->position - head->start));
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, head->packet) == MAP_FAILED)
		munmap(copy, size);
}

void tp_ctf_packets_forget_stream(struct ctf_sink *sink, struct ctf_stream *stream, bool own)
{
	if (stream->prepared) {
		tp_ctf_packet_unmap(sink, stream->prepared);
		description_give(sink, stream->prepared);
		stream->prepared = NULL;
	}
	if (own)
		replace_packet(sink, stream);
	else
		tp_ctf_packet_unmap(sink, stream->packet);
}

static void forget_all(struct ctf_sink *sink, struct ctf_packet *packet)
{
	while (packet) {
		struct ctf_packet *next = packet->next;
		tp_ctf_packet_unmap(sink, packet);
		description_give(sink, packet);
		packet = next;
	}
}

/* The fork holds tp_ctf_lock. */
void tp_ctf_packets_forget(struct ctf_sink *sink)
{
	forget_all(sink, sink->oldest);
	forget_all(sink, sink->full);
	sink->oldest = sink->full = NULL;
	sink->newest_next = &sink->oldest;
	sink->full_end = &sink->full;
	sink->room = 0;
	sink->nr_streams = 0;
	sink->making = 0;
	sink->homeless = 0;
}
