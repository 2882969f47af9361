/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/ring/chapter.c - whoever needs another packet may end the trace's chapter before.
 */
#include "base/locks.h"
#include "base/message.h"
#include "sinks/ctf/dir/begin.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/ring/packet.h"
#include "sinks/ctf/ring/packets.h"
#include "sinks/ctf/ring/stream.h"
#include "sinks/ctf/sink.h"

/* Nanoseconds until another one is tried for. */
#define ROTATE_AGAIN_AFTER 1000000000u

static bool is_over(const struct tp_ctf_sink *sink, const struct tp_ctf_dir *in)
{
	const uint64_t now = tp_ctf_clock();

	if (tp_ctf_is_later(sink) || sink->forked || now < __atomic_load_n(&sink->rotate_again, __ATOMIC_RELAXED))
		return false;
	return __atomic_load_n(&in->written, __ATOMIC_RELAXED) >= sink->options.rotate_size ||
	       now - in->begun >= sink->options.rotate_time;
}

/* True where there is another chapter now. *error: why not; 0 where it is only put off. */
static bool rotate(struct tp_ctf_sink *sink, struct tp_ctf_dir *in, int *error)
{
	struct tp_ctf_packet *empty = NULL;
	bool rotated = false;

	tp_mutex_lock(&tp_ctf_chapter_lock);
	if (in == sink->dirs && is_over(sink, in) && tp_try_lock(&tp_events_lock)) { /* else the metadata is being written */
		*error = tp_ctf_begin_chapter(sink, &empty);
		rotated = !*error;
		if (*error)
			__atomic_store_n(&sink->rotate_again, tp_ctf_clock() + ROTATE_AGAIN_AFTER, __ATOMIC_RELAXED);
		tp_unlock(&tp_events_lock);
	}
	tp_mutex_unlock(&tp_ctf_chapter_lock);
	tp_ctf_packets_remove_empty(sink, in, empty);
	return rotated;
}

static void complain(struct tp_ctf_sink *sink, int error)
{
	if (!__atomic_exchange_n(&sink->rotation_complained, true, __ATOMIC_RELAXED))
		tp_complain("CTF trace '%s': rotate= can't begin another chapter: %s%s; the records go into the one that there "
			    "is until it can",
			    sink->path, tp_strerror(error), tp_ctf_remedy(error));
}

enum tp_lost tp_ctf_packets_switch(struct tp_ctf_sink *sink, struct tp_ctf_stream *stream)
{
	if (!sink->options.rotate)
		return tp_ctf_packets_next(sink, stream);
	tp_mutex_lock(&tp_ctf_lock);
	struct tp_ctf_dir *in = tp_ctf_dir_enter(sink);
	tp_mutex_unlock(&tp_ctf_lock);
	/* Without its end, which is given back. */
	const uint64_t more = stream->packet && stream->packet->chapter == in->key ? stream->head.published - stream->head.start : 0;
	int error = 0;
	__atomic_fetch_add(&in->written, more, __ATOMIC_RELAXED); /* before the look: of several threads, one sees that it is over */
	const bool rotated = is_over(sink, in) && rotate(sink, in, &error);
	enum tp_lost result = tp_ctf_packets_next(sink, stream);
	if (result != TP_NR_LOST)
		__atomic_fetch_sub(&in->written, more, __ATOMIC_RELAXED);
	tp_mutex_lock(&tp_ctf_lock);
	tp_ctf_dir_leave(sink, in);
	tp_mutex_unlock(&tp_ctf_lock);
	if (error)
		complain(sink, error);
	if (rotated)
		tp_ctf_begin_tidy(sink);
	return result;
}
