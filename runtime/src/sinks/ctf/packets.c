/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/packets.c - a stream's packets, one after the other: that the next is
 * there when it is needed, and what becomes of the one before.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/guard.h"
#include "base/message.h"
#include "sinks/ctf/ctf.h"

/* On a full disk: nanoseconds until the next packet is tried for. */
#define RETRY_AFTER 100000000u

/* What is made present at once: it takes some microseconds. */
#define SLICE ((size_t)64 << 10)

/* ---- Making the next one ---- */

/* It is said once, and for a while no other is to be tried for. */
static void failed(struct tp_ctf_sink *sink, const char *what, const char *done, int error)
{
	if (!__atomic_exchange_n(&sink->no_room_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': no %s of %zu bytes can be %s: %s%s; records are lost until it can", sink->path,
			    what, sink->options.packet, done, tp_strerror(error), tp_ctf_remedy(error));
	__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	__atomic_store_n(&sink->retry_at, tp_ctf_clock() + RETRY_AFTER, __ATOMIC_RELAXED);
}

static void remove_all(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	while (packet) {
		struct tp_ctf_packet *next = packet->next;
		tp_ctf_packet_remove(sink, packet, false);
		tp_mutex_lock(&tp_ctf_lock);
		tp_ctf_packet_forget(sink, packet);
		tp_mutex_unlock(&tp_ctf_lock);
		packet = next;
	}
}

/*
 * The name of the stream's next packet. An earlier process with this one's id
 * may have written to the trace: then no stream of ours may be called as one of its is.
 */
static void name_it(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet)
{
	tp_mutex_lock(&tp_ctf_lock);
	if (!stream->shown && stream->sequence) {
		stream->number = sink->next_number++;
		stream->sequence = 0;
	}
	packet->number = stream->number;
	packet->sequence = stream->sequence++;
	tp_mutex_unlock(&tp_ctf_lock);
}

/* An overwriting sink has no packet for a thread: its user hardly expects that. */
static void complain_of_limit(struct tp_ctf_sink *sink)
{
	if (sink->options.overwrite && !__atomic_exchange_n(&sink->limit_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': size= holds %llu packets of %zu bytes, and all are in use: records of further "
			    "threads are lost; a larger size= or a smaller packet= is needed",
			    sink->path, (unsigned long long)(sink->options.size / sink->options.packet),
			    sink->options.packet);
}

/* The plan can't be carried out. */
static void drop(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_plan *plan, const struct tp_ctf_packet *was)
{
	if (plan->packet == stream->packet) { /* it stays */
		tp_mutex_lock(&tp_ctf_lock);
		plan->packet->number = was->number;
		plan->packet->sequence = was->sequence;
		tp_mutex_unlock(&tp_ctf_lock);
		tp_ctf_packet_release(plan->packet, TP_CTF_BEGINS);
		return;
	}
	tp_ctf_packet_unmap(sink, plan->packet); /* of a recycled one, somebody has taken the file away */
	tp_ctf_room_give_back(sink, plan->packet);
}

/* A hidden file for the stream's next packet. */
static enum tp_lost make(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_packet **made)
{
	struct tp_ctf_plan plan = {.packet = NULL};
	enum tp_lost result = tp_ctf_room_plan(sink, stream, ahead, &plan);
	int error;

	remove_all(sink, plan.goes);
	if (result == TP_LOST_LIMIT && !ahead)
		complain_of_limit(sink);
	if (result != TP_NR_LOST)
		return result;
	*made = plan.packet;
	if (plan.packet->in_place)
		return TP_NR_LOST;
	const struct tp_ctf_packet was = {.number = plan.packet->number, .sequence = plan.packet->sequence};
	int tries = 2;
	do {
		name_it(sink, stream, plan.packet);
		error = plan.recycle ? tp_ctf_packet_recycle(sink, plan.packet, &was)
				     : tp_ctf_packet_create(sink, plan.packet);
	} while (error == EEXIST || (error == EBADF && --tries)); /* descriptors are closed all at once */
	if (error) {
		drop(sink, stream, &plan, &was);
		failed(sink, "new packet", "made", error);
		return plan.recycle || tp_ctf_room_may_create(sink) ? TP_LOST_NO_FILE : make(sink, stream, ahead, made);
	}
	if (!plan.recycle)
		plan.packet->warm = 0;
	return TP_NR_LOST;
}

/* Bytes of a packet that are made present at once, or of which the last are its end. */
static size_t slice_of(const struct tp_ctf_sink *sink)
{
	return sink->options.packet / 2 < SLICE ? sink->options.packet / 2 : SLICE;
}

static void warm(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, size_t at_least)
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
static unsigned long take_homeless(struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->homeless, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(&sink->homeless, 0, __ATOMIC_RELAXED)
		       : 0;
}

/* Gives the packet its head and its name. */
static int begin(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet, unsigned long homeless)
{
	const bool in_new_chapter = stream->chapter != sink->chapter;

	stream->carried = stream->packet ? stream->packet->memory->events_discarded : 0;
	if (in_new_chapter)
		stream->first = stream->shown;
	/* Not before the end of the old one. */
	__atomic_store_n(&packet->begin, tp_stream_time(&stream->head, tp_clock_now(&sink->clock)), __ATOMIC_RELAXED);
	return tp_ctf_packet_begin(sink, packet, (in_new_chapter ? 0 : stream->carried) + homeless);
}

/* The same. 0 or an error, and then it is gone. */
static int show(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet)
{
	unsigned long homeless = take_homeless(sink);
	int error = begin(sink, stream, packet, homeless);

	if (!error)
		return 0;
	__atomic_fetch_add(&sink->homeless, homeless, __ATOMIC_RELAXED);
	if (packet != stream->packet) {
		tp_ctf_packet_remove(sink, packet, true);
		tp_ctf_room_give_back(sink, packet);
	}
	if (error != EEXIST)
		failed(sink, "new packet", "made", error);
	return error;
}

/* The old packet is complete: what becomes of it. */
static void close_packet(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	if (sink->options.flight) {
		tp_ctf_packet_release(packet, TP_CTF_TAKEN);
		return;
	}
	size_t unused = tp_ctf_packet_finish(sink, packet);
	tp_mutex_lock(&tp_ctf_lock);
	packet->room -= unused;
	__atomic_fetch_sub(&sink->room, unused, __ATOMIC_RELAXED);
	if (sink->options.overwrite)
		tp_ctf_packet_release(packet, TP_CTF_TAKEN);
	else
		tp_ctf_packet_forget(sink, packet);
	tp_mutex_unlock(&tp_ctf_lock);
}

void tp_ctf_packets_wake(struct tp_ctf_sink *sink)
{
	tp_helper_thread_wake(&sink->preparer);
}

/* Somebody else is to prepare the stream's next packet, and to close the old one, unless that may have to go soon. */
static bool leave_to_preparer(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *old)
{
	bool leave = old && !sink->options.overwrite && !sink->options.flight;

	tp_mutex_lock(&tp_ctf_lock);
	stream->wants_packet = true;
	if (leave) {
		old->next = NULL;
		*sink->full_end = old;
		sink->full_end = &old->next;
	}
	tp_mutex_unlock(&tp_ctf_lock);
	tp_ctf_packets_wake(sink);
	return leave;
}

static void set_limit(struct tp_ctf_stream *stream, uint64_t limit)
{
	tp_barrier(); /* the packet is there before the room in it, and there is no room while it changes */
	__atomic_store_n(&stream->head.limit, limit, __ATOMIC_RELAXED);
	tp_barrier();
}

/* The packet becomes the stream's current one; its head has been written. There is no place in it before set_limit(). */
static void make_current(const struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet,
			 const struct tp_ctf_packet *old)
{
	struct tp_stream *head = &stream->head;

	__atomic_store_n(&stream->packet, packet, __ATOMIC_RELEASE);
	stream->shown++;
	head->packet = packet->memory;
	tp_barrier(); /* what handlers lose from here on, they count there */
	if (old) /* what was lost since the new one got its head */
		__atomic_fetch_add(&packet->memory->events_discarded, old->memory->events_discarded - stream->carried,
				   __ATOMIC_RELAXED);
	if (stream->shown > 1)
		head->start += sink->options.packet;
	head->base = (uintptr_t)head->packet - (uintptr_t)head->start;
	head->published = head->start + sizeof(struct tp_packet);
	__atomic_store_n(&head->position, head->published, __ATOMIC_RELAXED);
	stream->copied = head->published;
	tp_ctf_packet_release(packet, TP_CTF_BEGINS);
}

/* Behind the one that was the newest; where closed ones are left to their readers, alone. */
static void link_in(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, struct tp_ctf_packet *old)
{
	if (old && (sink->options.overwrite || sink->options.flight)) {
		packet->next = old->next;
		__atomic_store_n(&old->next, packet, __ATOMIC_RELEASE);
	} else {
		packet->next = packet;
	}
}

static void go_on(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_packet *packet)
{
	struct tp_ctf_packet *old = stream->packet != packet ? stream->packet : NULL;

	tp_mutex_lock(&tp_ctf_lock);
	if (packet != stream->packet)
		link_in(sink, packet, old);
	make_current(sink, stream, packet, old);
	tp_mutex_unlock(&tp_ctf_lock);
	bool left = sink->preparing && leave_to_preparer(sink, stream, old);
	if (old && !left)
		close_packet(sink, old);
}

static bool renew(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *old = stream->packet, *packet = tp_ctf_oldest(stream);

	if (!packet || !tp_ctf_packet_take(packet))
		return false;
	/* Another thread may have taken it away before; if so, and if its stream has closed it again, it is another's. */
	if (tp_ctf_oldest(stream) != packet) {
		tp_ctf_packet_release(packet, TP_CTF_TAKEN | TP_CTF_BEGINS);
		return false;
	}
	set_limit(stream, 0);
	packet->in_place = true;
	begin(sink, stream, packet, take_homeless(sink));
	make_current(sink, stream, packet, old);
	tp_ctf_packet_release(old, TP_CTF_TAKEN);
	set_limit(stream, stream->head.start + packet->warm);
	return true;
}

bool tp_ctf_packets_renew(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t size)
{
	if (tp_ctf_is_prepared(stream) || !tp_ctf_room_goes_round(sink, stream))
		return false;
	stream->renewing = true; /* handlers leave the stream alone */
	tp_barrier();
	bool room = tp_ctf_stream_has_room(stream, size) || renew(sink, stream);
	tp_barrier();
	stream->renewing = false;
	return room;
}

static enum tp_lost next_packet(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_ctf_packet *packet;
	enum tp_lost result = TP_NR_LOST;
	int error = 0;

	set_limit(stream, 0);
	do {
		packet = __atomic_exchange_n(&stream->prepared, NULL, __ATOMIC_ACQUIRE);
		if (packet)
			remove_all(sink, tp_ctf_room_take_excess(sink, stream));
		else
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

/* ---- Chapters: under tp_ctf_chapter_lock ---- */

/* Nanoseconds until another one is tried for. */
#define ROTATE_AGAIN_AFTER 1000000000u

/* They are in the directory of the chapter that ends. */
static void remove_prepared(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *all = NULL, *packet;

	tp_mutex_lock(&tp_ctf_lock);
	for (struct tp_ctf_stream *stream = sink->streams; stream; stream = stream->next) {
		packet = __atomic_exchange_n(&stream->prepared, NULL, __ATOMIC_ACQUIRE);
		if (packet) {
			packet->next = all;
			all = packet;
		}
	}
	tp_mutex_unlock(&tp_ctf_lock);
	while ((packet = all)) {
		all = packet->next;
		tp_ctf_packet_remove(sink, packet, true);
		tp_ctf_room_give_back(sink, packet);
	}
}

/* Whether the chapter ends, in which so much more has been written. */
static bool chapter_is_over(const struct tp_ctf_sink *sink, uint64_t more)
{
	const uint64_t now = tp_ctf_clock();

	if (tp_ctf_is_later(sink) || sink->forked || now < sink->rotate_again)
		return false;
	return sink->written + more >= sink->options.rotate_size || now - sink->chapter_begun >= sink->options.rotate_time;
}

/* True where there is another chapter now. *error: why not; 0 where it is only put off. */
static bool rotate(struct tp_ctf_sink *sink, int *error)
{
	*error = 0;
	if (!tp_try_lock(&tp_events_lock)) /* the metadata is being written */
		return false;
	remove_prepared(sink);
	*error = tp_ctf_begin_chapter(sink);
	tp_unlock(&tp_events_lock);
	if (*error)
		sink->rotate_again = tp_ctf_clock() + ROTATE_AGAIN_AFTER;
	return !*error;
}

static enum tp_lost next_packet_of_chapter(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool *rotated, int *error)
{
	/* Without its end, which is given back. */
	uint64_t written = stream->packet && stream->chapter == sink->chapter ? stream->head.published - stream->head.start : 0;

	if (chapter_is_over(sink, written))
		*rotated = rotate(sink, error);
	enum tp_lost result = next_packet(sink, stream);
	if (result == TP_NR_LOST) {
		sink->written += *rotated ? 0 : written;
		stream->chapter = sink->chapter;
	}
	return result;
}

enum tp_lost tp_ctf_packets_switch(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	bool rotated = false;
	int error = 0;

	if (!sink->options.rotate)
		return next_packet(sink, stream);
	tp_mutex_lock(&tp_ctf_chapter_lock);
	enum tp_lost result = next_packet_of_chapter(sink, stream, &rotated, &error);
	tp_mutex_unlock(&tp_ctf_chapter_lock);
	if (error && !__atomic_exchange_n(&sink->chapter_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': rotate= can't begin another chapter: %s%s; the records go into the one that there "
			    "is until it can",
			    sink->path, tp_strerror(error), tp_ctf_remedy(error));
	if (rotated)
		tp_ctf_begin_tidy(sink);
	return result;
}

/* ---- Ahead of need ---- */

/* Where one can't be had now, or only for another, it is too early to say so. */
static void prepare_one(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t at_least)
{
	struct tp_ctf_packet *packet;

	tp_mutex_lock(&tp_ctf_lock);
	/* Where old ones are overwritten, those that are only prepared must not be all that there is. */
	bool may = !tp_ctf_room_is_short(sink, stream) &&
		   (!sink->options.overwrite || sink->room <= sink->options.size / 2);
	sink->making++;
	tp_mutex_unlock(&tp_ctf_lock);
	if (may && tp_ctf_room_may_be_tried(sink, NULL) && make(sink, stream, true, &packet) == TP_NR_LOST) {
		warm(sink, packet, at_least);
		__atomic_store_n(&stream->prepared, packet, __ATOMIC_RELEASE);
	}
	tp_mutex_lock(&tp_ctf_lock);
	sink->making--;
	tp_mutex_unlock(&tp_ctf_lock);
}

static void prepare(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t at_least)
{
	if (!sink->options.rotate) {
		prepare_one(sink, stream, at_least);
		return;
	}
	tp_mutex_lock(&tp_ctf_chapter_lock);
	prepare_one(sink, stream, at_least);
	tp_mutex_unlock(&tp_ctf_chapter_lock);
}

bool tp_ctf_packets_widen(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t end)
{
	struct tp_ctf_packet *packet = stream->packet;

	if (packet->broken || packet->warm == sink->options.packet)
		return false;
	warm(sink, packet, end);
	if (packet->warm == sink->options.packet && !sink->preparing && !tp_ctf_is_prepared(stream))
		prepare(sink, stream, 0); /* ahead of need */
	set_limit(stream, stream->head.start + packet->warm);
	return true;
}

/* ---- Where records are copied into the file ---- */

/*
 * They can't be: what is not in the file is no content. The place is given back, so that records can come there
 * again; but a new packet is tried for first. No signal comes.
 */
static void take_back(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, int error)
{
	struct tp_stream *head = &stream->head;

	stream->packet->broken = true;
	set_limit(stream, 0);
	head->position = head->published = stream->copied;
	__atomic_store_n(&head->packet->content_size, (stream->copied - head->start) * CHAR_BIT, __ATOMIC_RELEASE);
	__atomic_fetch_add(&head->packet->events_discarded, stream->uncopied, __ATOMIC_RELAXED);
	for (; stream->uncopied; stream->uncopied--)
		tp_sink_count_lost(&sink->head, TP_LOST_NO_FILE);
	failed(sink, "packet", "written to", error);
}

static int copy(struct tp_ctf_stream *stream)
{
	const uint64_t start = stream->head.start, to = stream->head.published;
	int error = tp_ctf_packet_copy(stream->packet, (size_t)(stream->copied - start), (size_t)(to - start));

	/* A handler's record that has come meanwhile has been copied by then, or was taken back. */
	if (!error) {
		stream->copied = to;
		stream->uncopied = 0;
		stream->packet->broken = false;
	}
	return error;
}

void tp_ctf_packets_copy(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	struct tp_guard guard;

	stream->pins++;
	tp_barrier(); /* no handler takes the packet away */
	if (copy(stream) != 0 && tp_guard_enter(&guard)) {
		int error = copy(stream);
		if (error && !tp_ctf_stream_is_busy(stream))
			take_back(sink, stream, error);
		tp_guard_leave(&guard);
	}
	tp_barrier();
	stream->pins--;
}

/* ---- The preparer's work ---- */

static struct tp_ctf_packet *take_full(struct tp_ctf_sink *sink)
{
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_packet *packet = sink->full;
	if (packet)
		sink->full = packet->next;
	if (!sink->full)
		sink->full_end = &sink->full;
	tp_mutex_unlock(&tp_ctf_lock);
	return packet;
}

static struct tp_ctf_stream *take_wanting(struct tp_ctf_sink *sink)
{
	struct tp_ctf_stream *stream;

	tp_mutex_lock(&tp_ctf_lock);
	for (stream = sink->streams; stream && !stream->wants_packet; stream = stream->next)
		;
	if (stream)
		stream->wants_packet = false;
	tp_mutex_unlock(&tp_ctf_lock);
	return stream;
}

void tp_ctf_packets_work(struct tp_ctf_sink *sink)
{
	struct tp_ctf_stream *stream;
	struct tp_ctf_packet *packet;

	/* What threads may be waiting for comes first. */
	while ((stream = take_wanting(sink))) {
		if (!tp_ctf_is_prepared(stream))
			prepare(sink, stream, sink->options.packet);
	}
	while ((packet = take_full(sink)))
		close_packet(sink, packet);
}

/* ---- The end ---- */

void tp_ctf_packets_end_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	unsigned long homeless = take_homeless(sink);

	if (homeless)
		__atomic_fetch_add(&stream->head.packet->events_discarded, homeless, __ATOMIC_RELAXED);
	if (stream->prepared && stream->prepared->in_place) /* what it was is still in it */
		tp_ctf_packet_finish(sink, stream->prepared);
	else if (stream->prepared)
		tp_ctf_packet_remove(sink, stream->prepared, true);
	for (struct tp_ctf_packet *packet = tp_ctf_oldest(stream); packet; packet = tp_ctf_oldest(stream)) {
		stream->packet->next = packet->next;
		if (packet->memory)
			tp_ctf_packet_finish(sink, packet);
	}
	tp_ctf_packet_finish(sink, stream->packet);
}

void tp_ctf_packets_end(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *packet;

	while ((packet = take_full(sink)))
		close_packet(sink, packet);
}

/* In the packet's place the child gets memory of its own, with what a record on its way has in it already. */
static void replace_packet(const struct tp_ctf_sink *sink, const struct tp_ctf_packet *packet, size_t used)
{
	size_t size = sink->options.packet;
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return;
	memcpy(copy, packet->memory, used);
	if (mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, packet->memory) == MAP_FAILED)
		munmap(copy, size);
}

/* The memory is the child's by itself. */
static void drop_file(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
{
	munmap(packet->file, sink->options.packet);
	packet->file = NULL;
}

void tp_ctf_packets_forget_stream(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool own)
{
	const struct tp_stream *head = &stream->head;
	/* Of a record on its way. While the packet changes there is none, and the positions may be of two packets. */
	const size_t used = tp_ctf_stream_is_busy(stream) && !stream->renewing ? (size_t)(head->position - head->start) : 0;

	if (stream->prepared) {
		tp_ctf_packet_unmap(sink, stream->prepared);
		tp_ctf_packet_forget(sink, stream->prepared);
		stream->prepared = NULL;
	}
	for (struct tp_ctf_packet *packet = tp_ctf_oldest(stream); packet; packet = tp_ctf_oldest(stream)) {
		stream->packet->next = packet->next;
		if (own && stream->renewing) { /* a handler forks, which has interrupted that */
			replace_packet(sink, packet, 0);
			continue;
		}
		tp_ctf_packet_unmap(sink, packet);
		tp_ctf_packet_forget(sink, packet);
	}
	if (own && sink->copies)
		drop_file(sink, stream->packet);
	else if (own)
		replace_packet(sink, stream->packet, used);
	else
		tp_ctf_packet_unmap(sink, stream->packet);
}

/* In a child, which has one thread. */
void tp_ctf_packets_forget(struct tp_ctf_sink *sink)
{
	for (struct tp_ctf_packet *packet = sink->full, *next; packet; packet = next) {
		next = packet->next;
		tp_ctf_packet_unmap(sink, packet);
		tp_ctf_packet_forget(sink, packet);
	}
	sink->full = NULL;
	sink->full_end = &sink->full;
	sink->room = 0;
	sink->nr_streams = 0;
	sink->making = 0;
	sink->homeless = 0;
}
