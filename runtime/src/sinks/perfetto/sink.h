/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/sink.h - a Perfetto sink, and what its files know of it. Each uses those below it only:
 *
 *	sink.c            opening, closing, forks
 *	record.c          the way of a record
 *	  stream.c        which thread has which stream; a stream's chunks
 *	    file.c        the file, of which streams get chunks
 *	  track_event.c   an event and its record as a TrackEvent
 *	    proto.c       bytes
 */
#ifndef TP_PERFETTO_SINK_H
#define TP_PERFETTO_SINK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <tp/sink.h>

#include "base/clock.h"
#include "base/file.h"
#include "events/events.h"
#include "sinks/perfetto/track_event.h"

struct tp_perfetto_stream;

/* What all processes that write to the file share: in memory that a forked child has from its parent. */
struct tp_perfetto_shared {
	pthread_mutex_t lock;  /* guards what follows, and the file's end; a process that ends with it leaves both whole */
	uint64_t end;          /* bytes of the file that are header and chunks; behind that, there is nothing */
	uint32_t sequences;    /* numbers that are given: 1 is the header's */
};

/* The file. Under tp_perfetto_lock, but for the opening. */
struct tp_perfetto_file {
	char *pattern;         /* absolute, maybe with %p; NULL: the file was passed, and path is only for messages */
	char *path;            /* with the id of this process, or of the one that has made the file */
	bool later;            /* it is yet to be made: by the first record of a child, as %p is in its name */
	struct tp_guarded_fd fd;
	struct tp_perfetto_shared *shared;
	bool copies;           /* what is written is copied into the mapped file: base/mapped_file.h */
};

struct tp_perfetto_sink {
	struct tp_sink head;
	uint32_t slot;         /* of the threads' slots. A thread's stream is the sink's if it has ... */
	uint64_t key;          /* ... this key, which is another one in each child */
	int pid;
	struct tp_clock clock; /* CLOCK_MONOTONIC */
	char program[PATH_MAX];
	struct tp_perfetto_file file;
	struct tp_track_plan **plans; /* by the ids of events; TP_NR_IDS, of which only the pages are there that ids are in */
	struct tp_track_plan *all_plans; /* this and the next under tp_events_lock */
	uint64_t next_iid;
	struct tp_perfetto_stream *streams, *pool, *unused, *left; /* under tp_perfetto_lock; pool is also looked at without it */
	uint64_t retry_at;     /* there is no try for a chunk before that, by CLOCK_MONOTONIC */
	unsigned long homeless; /* records lost where there was no stream to count them in; changes without the lock */
	int error;             /* the last that cost something */
	bool complained;
};

static inline struct tp_track_plan *tp_perfetto_plan_of(const struct tp_perfetto_sink *sink, uint16_t id)
{
	return __atomic_load_n(&sink->plans[id], __ATOMIC_ACQUIRE);
}

#endif /* TP_PERFETTO_SINK_H */
