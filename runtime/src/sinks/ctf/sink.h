/* SPDX-License-Identifier: MIT */
/*
 * sinks/ctf/sink.h - a CTF sink, and what its files know of it.
 */
#ifndef TP_CTF_SINK_H
#define TP_CTF_SINK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/helper_thread.h"
#include "base/mutex.h"
#include "base/text.h"
#include "events/events.h"
#include "record/record.h"
#include "record/stream.h"
#include "sinks/ctf/describe.h"
#include "sinks/ctf/format.h"
#include "sinks/ctf/options.h"

struct tp_ctf_packet;
struct tp_ctf_stream;

/* Descriptors in reserve: for format/ and a file in it; and for a directory that is yet to be made, and stays open. */
#define TP_CTF_SPARES 3

struct tp_ctf_sink {
	struct tp_sink head;
	struct tp_ctf_options options;
	struct tp_clock clock;  /* its refinement is under tp_events_lock */
	uint64_t generation;    /* unique among all sinks, and anew in each child: the key of its streams' slots */
	uint32_t slot;          /* of tp_stream_slots; its keys are tp_ctf_key()'s */
	size_t context_size;    /* bytes between an event's time and its record */
	struct tp_guarded_fd dirs[2]; /* that of the current chapter is tp_ctf_current()'s; the other one is the next's */
	unsigned int chapter;   /* how often the trace was rotated */
	struct tp_guarded_fd spare[TP_CTF_SPARES]; /* of descriptors; see spare.c */
	char *path;             /* as given, for messages; with this process's id for %p */
	char *real_path;        /* absolute */
	void *hold;             /* of the trace; see hold.c */
	int pid;
	time_t created;         /* when the directory became a trace */
	bool forked;            /* this is a child, and the metadata is the parent's */
	bool later;             /* the directory is yet to be made, at the first record: changes under tp_ctf_lock */
	bool no_room_complained, limit_complained, chapter_complained;
	bool preparing;         /* there is a preparer */
	bool copies;            /* records into packets' files, by a system call */
	bool renews;            /* packets are begun again in their place */
	struct tp_helper_thread preparer;
	bool partial;           /* there are events that are not in the metadata */
	int error;              /* the last that cost something */
	uint64_t retry_at;      /* no new packet is tried for before that, by CLOCK_MONOTONIC */
	unsigned long homeless; /* lost where there was no stream to count it in */

	/* Under tp_ctf_lock. */
	struct tp_ctf_stream *streams, *pool;
	struct tp_ctf_packet *full, **full_end;  /* that the preparer is to close */
	struct tp_ctf_packet *unused_packets;
	struct tp_ctf_stream *unused_streams;
	char *chunk;            /* the descriptions' memory ... */
	size_t chunk_left;      /* ... and what is left of it */
	uint64_t room;          /* of all packets. It and the next are also looked at without the lock */
	unsigned int nr_streams;
	unsigned int making;    /* packets that are being made ahead of need */
	unsigned int next_number;

	/* Under tp_ctf_chapter_lock. */
	uint64_t written;       /* bytes in the packets of this chapter that are closed */
	uint64_t chapter_begun; /* by CLOCK_MONOTONIC */
	uint64_t rotate_again;  /* none is tried for before that */

	/* Under tp_events_lock. */
	struct tp_buffer metadata;             /* but for what is the process's alone, and the clock ... */
	size_t process_at, clock_at;           /* ... which go in there */
	size_t metadata_written;               /* bytes of it that are in the file */
	struct tp_ctf_formats formats;
	uint8_t pending[TP_NR_IDS / CHAR_BIT]; /* described in the text, not yet in the file */

	uint8_t described[TP_NR_IDS / CHAR_BIT]; /* in the file: these events may be recorded */

	/* Of a trace whose name has %p, or that has chapters: each process that records makes its own. */
	char *pattern;             /* the name; NULL: the directory is there from the opening on */
	struct tp_guarded_fd parent; /* the directory in which it is to be */
	char *parent_path;         /* absolute */
	bool at_once;              /* later there may be no right to make it */
	size_t inherited;          /* bytes of the metadata in the parent's directory, where there is one */
	struct tp_ctf_description described_so_far; /* under tp_ctf_lock, and changed under tp_events_lock as well */
};

/* Time for what is not a record's: by CLOCK_MONOTONIC, in nanoseconds. */
static inline uint64_t tp_ctf_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline bool tp_ctf_is_later(const struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->later, __ATOMIC_ACQUIRE);
}

/*
 * A chapter is a trace of its own: the directory is another one. tp_ctf_chapter_lock or tp_events_lock is held meanwhile,
 * where a file in it is made, but by the log.
 */
static inline unsigned int tp_ctf_chapter(const struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->chapter, __ATOMIC_SEQ_CST);
}

static inline struct tp_guarded_fd *tp_ctf_current(struct tp_ctf_sink *sink)
{
	return &sink->dirs[tp_ctf_chapter(sink) % 2];
}

/*
 * The key of a slot whose stream is in this chapter. The sink's own is that of the current one: who is
 * in an older chapter leaves the short way with the next record.
 */
#define TP_CTF_GENERATION_BITS 40

static inline uint64_t tp_ctf_key(const struct tp_ctf_sink *sink, unsigned int chapter)
{
	const uint64_t chapters = ((uint64_t)1 << (TP_KEY_BITS - TP_CTF_GENERATION_BITS)) - 1;

	return sink->generation | (chapter & chapters) << TP_CTF_GENERATION_BITS;
}

/* Whether the slot has a stream of the sink. */
static inline bool tp_ctf_is_own(const struct tp_ctf_sink *sink, const struct tp_stream_slot *slot)
{
	return (slot->key ^ sink->generation) << (64 - TP_CTF_GENERATION_BITS) == 0;
}

/* What no stream could count, one that comes later does. */
static inline unsigned long tp_ctf_take_homeless(struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->homeless, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(&sink->homeless, 0, __ATOMIC_RELAXED)
		       : 0;
}

/* ---- The sink's bitmaps; described is read by threads that record ---- */

static inline bool tp_ctf_bit_is_set(const uint8_t *bits, unsigned int id)
{
	return __atomic_load_n(&bits[id / CHAR_BIT], __ATOMIC_RELAXED) & 1u << id % CHAR_BIT;
}

static inline void tp_ctf_bit_set(uint8_t *bits, unsigned int id)
{
	__atomic_fetch_or(&bits[id / CHAR_BIT], (uint8_t)(1u << id % CHAR_BIT), __ATOMIC_RELAXED);
}

/* ---- Locks: dir.c ---- */

/*
 * Guards the sinks' lists of streams and packets, and what stream.c knows of
 * slots. Only taken inside tp_guard_enter(), as readers take it too; and by forks.
 */
extern struct tp_mutex tp_ctf_lock;

/*
 * Of traces that have chapters: held while a packet is made in the directory, and while that becomes another. So a
 * packet that is prepared is always of the current chapter. Taken as tp_ctf_lock is.
 */
extern struct tp_mutex tp_ctf_chapter_lock;

/* ---- sink.c ---- */

/* NULL where it is no CTF sink. */
struct tp_ctf_sink *tp_ctf_sink_of(struct tp_sink *sink);

#endif /* TP_CTF_SINK_H */
