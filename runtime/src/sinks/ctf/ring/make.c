/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/make.c - making a stream's next packet, so that it is there when it is
 * needed: its file, and its memory.
 */
#include <errno.h>

#include "base/message.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/make.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

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

/* Removes the files of closed packets, by their next. */
static void remove_all(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_packet *packet)
{
	while (packet) {
		struct tp_ctf_packet *next = packet->next;
		tp_ctf_packet_remove(sink, in, packet, false);
		tp_mutex_lock(&tp_ctf_lock);
		tp_ctf_packet_forget(sink, packet);
		tp_mutex_unlock(&tp_ctf_lock);
		packet = next;
	}
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
static void drop(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream, struct tp_ctf_plan *plan)
{
	if (stream && plan->packet == stream->packet) { /* it stays */
		tp_mutex_lock(&tp_ctf_lock);
		plan->packet->state = TP_CTF_CURRENT;
		tp_mutex_unlock(&tp_ctf_lock);
		return;
	}
	tp_ctf_packet_unmap(sink, plan->packet); /* of a recycled one, somebody has taken the file away */
	tp_ctf_room_give_back(sink, plan->packet);
}

enum tp_lost tp_ctf_make(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, struct tp_ctf_stream *stream, struct tp_ctf_packet **made)
{
	struct tp_ctf_plan plan = {.packet = NULL};
	enum tp_lost result = tp_ctf_room_plan(sink, stream, &plan);
	int error;

	remove_all(sink, in, plan.goes);
	if (result == TP_LOST_LIMIT)
		complain_of_limit(sink);
	if (result != TP_NR_LOST)
		return result;
	*made = plan.packet;
	if (plan.packet->in_place)
		return TP_NR_LOST;
	int tries = 2;
	do
		error = plan.recycle ? tp_ctf_packet_hide(sink, in, plan.packet) : tp_ctf_packet_create(sink, in, plan.packet);
	while (error == EBADF && --tries); /* descriptors are closed all at once */
	if (error) {
		drop(sink, stream, &plan);
		if (stream) /* else whoever needs it tries again */
			tp_ctf_failed(sink, "new packet", "made", error);
		return plan.recycle || tp_ctf_room_may_create(sink) ? TP_LOST_NO_FILE : tp_ctf_make(sink, in, stream, made);
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
