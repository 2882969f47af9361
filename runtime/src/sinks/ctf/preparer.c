/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/preparer.c - a thread that makes packets ahead of need, and closes full
 * ones, so that those that record need not.
 */
#include "base/guard.h"
#include "base/message.h"
#include "sinks/ctf/make.h"
#include "sinks/ctf/packet.h"
#include "sinks/ctf/packets.h"
#include "sinks/ctf/preparer.h"
#include "sinks/ctf/sink.h"
#include "sinks/ctf/stream.h"

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

static void close_full(struct tp_ctf_sink *sink)
{
	struct tp_ctf_packet *packet;

	while ((packet = take_full(sink)))
		tp_ctf_packets_close(sink, packet);
}

static void work(void *data)
{
	struct tp_ctf_sink *sink = data;
	struct tp_ctf_stream *stream;

	/* What threads may be waiting for comes first. */
	while ((stream = take_wanting(sink))) {
		if (!tp_ctf_is_prepared(stream))
			tp_ctf_prepare(sink, stream, sink->options.packet);
	}
	close_full(sink);
}

/* ---- The thread ---- */

void tp_ctf_preparer_start(struct tp_ctf_sink *sink)
{
	sink->preparer = (struct tp_helper_thread){.name = "tp-prepare", .work = work, .data = sink};
	sink->preparing = true;
	int error = tp_helper_thread_start(&sink->preparer);
	if (!error)
		return;
	sink->preparing = false;
	tp_complain("CTF trace '%s': no thread can be made that prepares packets: %s; the threads that record "
		    "do it themselves",
		    sink->path, tp_strerror(error));
}

void tp_ctf_preparer_stop(struct tp_ctf_sink *sink)
{
	struct tp_guard guard;

	if (!sink->preparing)
		return;
	tp_helper_thread_stop(&sink->preparer);
	sink->preparing = false;
	tp_guard_enter(&guard);
	close_full(sink);
	tp_guard_leave(&guard);
}
