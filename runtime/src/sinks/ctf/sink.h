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
#include "base/helper.h"
#include "base/locks.h"
#include "base/text.h"
#include "events/events.h"
#include "record/record.h"
#include "record/stream.h"
#include "sinks/ctf/describe/describe.h"
#include "sinks/ctf/describe/format.h"
#include "sinks/ctf/dir/dir.h"
#include "sinks/ctf/options.h"

struct tp_ctf_packet;
struct tp_ctf_stream;

/* Descriptors in reserve: for format/ and a file in it; and for a directory that is yet to be made, and stays open. */
#define TP_CTF_SPARES 3

/* Packets and streams: ring/. Under tp_ctf_lock. */
struct tp_ctf_ring {
	struct tp_ctf_stream *streams, *pool;
	struct tp_ctf_packet *empty; /* made ahead of need, for any stream. Also looked at without the lock */
	struct tp_ctf_packet *full;  /* that the preparer is to close */
	struct tp_ctf_packet *unused_packets;
	struct tp_ctf_stream *unused_streams;
	char *chunk;              /* the descriptions' memory ... */
	size_t chunk_left;        /* ... and what is left of it */
	uint64_t room;            /* of all packets. It and the next are also looked at without the lock */
	unsigned int nr_streams;
	unsigned int next_number;
	unsigned int next_hidden; /* changes without the lock */
	struct tp_guarded_fd watch; /* tells who opens packets' files; see ring/watch.c */
	uint64_t opened;          /* how often it has told that, and once; the helper's */
	unsigned long homeless;   /* lost where there was no stream to count it in; changes without the lock */
};

/* What the trace says of events: describe/. Under tp_events_lock. */
struct tp_ctf_events {
	struct tp_buffer metadata;             /* but for what is the process's alone, and the clock ... */
	size_t process_at, clock_at;           /* ... which go in there */
	size_t written;                        /* bytes of it that are in the file */
	struct tp_ctf_formats formats;
	uint8_t pending[TP_NR_IDS / CHAR_BIT]; /* described in the text, not yet in the file */
	uint8_t described[TP_NR_IDS / CHAR_BIT]; /* in the file: these events may be recorded */
	bool partial;                          /* there are events that are not in the metadata */
	struct tp_ctf_description so_far;      /* under tp_ctf_lock, and changed under tp_events_lock as well */
};

struct tp_ctf_sink {
	struct tp_sink head;
	struct tp_ctf_options options;
	struct tp_clock clock;  /* its refinement is under tp_events_lock */
	uint32_t slot;          /* of tp_stream_slots. Its streams are those whose key ... */
	uint64_t first_key;     /* ... is not older than that, which is another one in each child */
	size_t context_size;    /* bytes between an event's time and its record */
	int pid;
	bool forked;            /* this is a child, and the metadata is the parent's */
	bool copies;            /* records into packets' files, by a system call */
	bool renews;            /* packets are begun again in their place */
	bool no_room_complained, limit_complained, rotation_complained;
	int error;              /* the last that cost something */
	uint64_t retry_at;      /* no new packet is tried for before that, by CLOCK_MONOTONIC */
	struct tp_ctf_ring ring;
	struct tp_ctf_events events;
	struct tp_work preparer; /* of the helper: it makes packets, and closes full ones. If it does, there is a run */

	/* The directory: dir/. */
	struct tp_ctf_dir *dirs;        /* the current one first. It changes under tp_ctf_lock and tp_events_lock */
	struct tp_ctf_dir *unused_dirs; /* under tp_ctf_lock */
	struct tp_ctf_dir first_dir;    /* one of those */
	uint64_t rotate_again;  /* no other chapter is tried for before that, by CLOCK_MONOTONIC; changes under tp_ctf_chapter_lock */
	struct tp_guarded_fd spare[TP_CTF_SPARES]; /* of descriptors; see dir/spare.c */
	char *path;             /* as given, for messages; with this process's id for %p */
	char *real_path;        /* absolute */
	time_t created;         /* when the directory became a trace */
	bool later;             /* the directory is yet to be made, at the first record: changes under tp_ctf_lock */
	/* Of a trace whose name has %p, or that has chapters: each process that records makes its own. */
	char *pattern;             /* the name; NULL: the directory is there from the opening on */
	struct tp_guarded_fd parent; /* the directory in which it is to be */
	char *parent_path;         /* absolute */
	bool at_once;              /* later there may be no right to make it */
	size_t inherited;          /* bytes of the metadata in the parent's directory, where there is one */
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

/* Who is in an older directory leaves the short way of records: the sink's key is another one. */
static inline uint64_t tp_ctf_key(const struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->dirs, __ATOMIC_SEQ_CST)->key;
}

/* Whether the slot has a stream of the sink. */
static inline bool tp_ctf_is_own(const struct tp_ctf_sink *sink, const struct tp_stream_slot *slot)
{
	return slot->key >= sink->first_key && slot->key != TP_STREAM_NONE;
}

/* What no stream could count, one that comes later does. */
static inline unsigned long tp_ctf_take_homeless(struct tp_ctf_sink *sink)
{
	return __atomic_load_n(&sink->ring.homeless, __ATOMIC_RELAXED)
		       ? __atomic_exchange_n(&sink->ring.homeless, 0, __ATOMIC_RELAXED)
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

/* ---- The preparer ---- */

/* Whether full packets are left to it: a forked child may have no helper. */
static inline bool tp_ctf_has_preparer(const struct tp_ctf_sink *sink)
{
	return sink->preparer.run && tp_helper_is_there();
}

/* ---- sink.c ---- */

/* NULL where it is no CTF sink. */
struct tp_ctf_sink *tp_ctf_sink_of(struct tp_sink *sink);

#endif /* TP_CTF_SINK_H */
