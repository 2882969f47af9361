/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/make.c - making a stream's next packet, so that it is there when it is
 * needed: its file, and its memory.
 */
#include <errno.h>

#include "base/message.h"
#include "sinks/ctf/dir.h"
#include "sinks/ctf/make.h"
#include "sinks/ctf/packet.h"
#include "sinks/ctf/room.h"
#include "sinks/ctf/sink.h"
#include "sinks/ctf/stream.h"

/* On a full disk: nanoseconds until the next packet is tried for. */
#define RETRY_AFTER 100000000u

/* What is made present at once: it takes some microseconds. */
#define SLICE ((size_t)64 << 10)

void tp_ctf_failed(struct tp_ctf_sink *sink, const char *what, const char *done, int error)
{
	if (!__atomic_exchange_n(&sink->no_room_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': no %s of %zu bytes can be %s: %s%s; records are lost until it can", sink->path,
			    what, sink->options.packet, done, tp_strerror(error), tp_ctf_remedy(error));
	__atomic_store_n(&sink->error, error, __ATOMIC_RELAXED);
	__atomic_store_n(&sink->retry_at, tp_ctf_clock() + RETRY_AFTER, __ATOMIC_RELAXED);
}

void tp_ctf_remove_all(struct tp_ctf_sink *sink, struct tp_ctf_packet *packet)
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
		plan->packet->state = TP_CTF_CURRENT;
		tp_mutex_unlock(&tp_ctf_lock);
		return;
	}
	tp_ctf_packet_unmap(sink, plan->packet); /* of a recycled one, somebody has taken the file away */
	tp_ctf_room_give_back(sink, plan->packet);
}

enum tp_lost tp_ctf_make(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, bool ahead, struct tp_ctf_packet **made)
{
	struct tp_ctf_plan plan = {.packet = NULL};
	enum tp_lost result = tp_ctf_room_plan(sink, stream, ahead, &plan);
	int error;

	tp_ctf_remove_all(sink, plan.goes);
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
		tp_ctf_failed(sink, "new packet", "made", error);
		return plan.recycle || tp_ctf_room_may_create(sink) ? TP_LOST_NO_FILE : tp_ctf_make(sink, stream, ahead, made);
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

void tp_ctf_warm(const struct tp_ctf_sink *sink, struct tp_ctf_packet *packet, size_t at_least)
{
	size_t to = packet->warm + slice_of(sink);

	if (to < at_least)
		to = at_least;
	if (to > sink->options.packet)
		to = sink->options.packet;
	tp_ctf_packet_warm(packet->memory, packet->warm, to);
	packet->warm = to;
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
	if (may && tp_ctf_room_may_be_tried(sink, NULL) && tp_ctf_make(sink, stream, true, &packet) == TP_NR_LOST) {
		tp_ctf_warm(sink, packet, at_least);
		__atomic_store_n(&stream->prepared, packet, __ATOMIC_RELEASE);
	}
	tp_mutex_lock(&tp_ctf_lock);
	sink->making--;
	tp_mutex_unlock(&tp_ctf_lock);
}

void tp_ctf_prepare(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, size_t at_least)
{
	if (!sink->options.rotate) {
		prepare_one(sink, stream, at_least);
		return;
	}
	tp_mutex_lock(&tp_ctf_chapter_lock);
	prepare_one(sink, stream, at_least);
	tp_mutex_unlock(&tp_ctf_chapter_lock);
}
