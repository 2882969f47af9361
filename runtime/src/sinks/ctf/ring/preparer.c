/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/preparer.c - what the helper does for streams: it makes packets ahead of need, and
 * closes full ones, so that those that record need not.
 */
#include "base/file.h"
#include "base/guard.h"
#include "base/helper.h"
#include "base/message.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/make.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/preparer.h"
#include "sinks/ctf/ring/room.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/ring/watch.h"
#include "sinks/ctf/sink.h"

static struct tp_ctf_packet *take_full(struct tp_ctf_sink *sink)
{
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_packet *packet = sink->ring.full;
	if (packet)
		sink->ring.full = packet->next;
	tp_mutex_unlock(&tp_ctf_lock);
	return packet;
}

/* So many are there for the streams' next packets; and so many may be, where those that were full are used again. */
#define LEAST_EMPTY 2u
#define MOST_EMPTY 4u

/* Fewer than so many are there, and somebody records. */
static bool wants_more(const struct tp_ctf_sink *sink, unsigned int than)
{
	tp_mutex_lock(&tp_ctf_lock);
	for (const struct tp_ctf_packet *empty = sink->ring.empty; empty && than; empty = empty->next)
		than--;
	const bool wants = sink->ring.streams && than;
	tp_mutex_unlock(&tp_ctf_lock);
	return wants;
}

static void close_full(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *packet;

	while ((packet = take_full(sink)))
		tp_ctf_packets_close(sink, packet);
}

/* Makes one, all of it present. Where it can't be had now, it is too early to say so. */
static bool prepare(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *packet;
	bool prepared = false;

	if (!tp_ctf_room_may_be_tried(sink))
		return false;
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_dir *in = tp_ctf_dir_enter(sink);
	tp_mutex_unlock(&tp_ctf_lock);
	if (tp_ctf_make(sink, in, NULL, &packet) == TP_NR_LOST) {
		tp_ctf_warm(sink, packet, sink->options.packet);
		tp_ctf_packets_add_empty(sink, in, packet);
		prepared = true;
	}
	tp_mutex_lock(&tp_ctf_lock);
	tp_ctf_dir_leave(sink, in);
	tp_mutex_unlock(&tp_ctf_lock);
	return prepared;
}

/*
 * What is in full packets goes into files of its own, and they become empty: that is faster than to make memory present
 * for another one. One at a time, as others may want the helper.
 */
static uint64_t work(void *data)
{
	struct tp_ctf_sink *sink = data;
	struct tp_ctf_packet *packet = take_full(sink);

	if (packet && (!wants_more(sink, MOST_EMPTY) || !tp_ctf_packets_save(sink, packet)))
		tp_ctf_packets_close(sink, packet);
	return packet || (wants_more(sink, LEAST_EMPTY) && prepare(sink)) ? 0 : TP_NEVER;
}

/* ---- The helper's part ---- */

void tp_ctf_preparer_start(struct tp_ctf_sink *sink)
{
	const bool is_asked_for = sink->options.prepare == TP_CTF_PREPARE_THREAD;
	const bool may_be = !sink->options.flight && !sink->options.overwrite && sink->options.packets == UINT64_MAX;

	if (!may_be || sink->options.prepare == TP_CTF_PREPARE_SELF || (tp_sandboxed && !is_asked_for))
		return;
	sink->preparer = (struct tp_work){.run = work, .data = sink};
	tp_ctf_watch_start(sink);
	const int error = tp_helper_begin(&sink->preparer);
	if (error)
		sink->preparer.run = NULL;
	if (error && is_asked_for)
		tp_complain("CTF trace '%s': no thread can be made that prepares packets: %s; the threads that record "
			    "do it themselves",
			    sink->path, tp_strerror(error));
}

void tp_ctf_preparer_stop(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;

	if (!sink->preparer.run)
		return;
	tp_helper_end(&sink->preparer);
	tp_guard_enter(&guard);
	close_full(sink);
	tp_guard_leave(&guard);
}
