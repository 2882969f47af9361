/* SPDX-License-Identifier: MIT */
/*
 * tp/sink.h - where records go: what a generated record writer needs of a
 * sink, and what whoever writes a sink of his own has to provide.
 *
 * A record writer reserves room for a record of known size, fills it in and
 * commits it. Both happen in the context of the thread that hits the
 * tracepoint, inside an RCU read-side critical section; between them, a
 * signal handler may reserve and commit records of its own, and so may a
 * tracepoint that is hit inside TP_fast_assign. They nest: what was reserved
 * last is committed first.
 */
#ifndef TP_SINK_H
#define TP_SINK_H

#include <tp/event.h>
#include <tp/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tp_sink;

/* Why a record is lost. */
enum tp_lost {
	TP_LOST_NO_FILE,   /* a file can't be made, or not be written to: a full disk, a directory that is gone */
	TP_LOST_LIMIT,     /* the sink's own limits: all that it may take is full */
	TP_LOST_NESTED,    /* in a signal handler, or inside another record, where there was no room or no way on */
	TP_LOST_TOO_LARGE, /* longer than TP_RECORD_MAX, or than a packet */
	TP_LOST_OTHER,     /* no memory; an event that the sink can't describe */
	TP_NR_LOST,
};

/*
 * A record on its way. It is the record writer's from reserve to commit, but
 * not always at one address.
 */
struct tp_record {
	struct tp_sink *sink;
	const struct tp_event *event;
	struct trace_entry *entry; /* the record's bytes, 8-byte aligned */
	uint32_t size;             /* bytes, header and payloads included */
	uint64_t time;             /* nanoseconds since the epoch; reserve may set it, for commit */
	void *priv[2];             /* the sink's own, from reserve to commit */
	struct tp_stream *stream;  /* that it is in; then the sink's commit is not called */
	uint64_t position;         /* and where its place in it begins */
};

struct tp_sink_ops {
	const char *name; /* "text" */
	/*
	 * Sets rec->entry to rec->size writable bytes. False, after counting
	 * the record as lost, where there is no room. Called from any thread and from signal handlers.
	 */
	bool (*reserve)(struct tp_record *rec);
	/*
	 * The runtime has refused a record, for being longer than TP_RECORD_MAX
	 * for one: counts it, in the place of tp_sink_count_lost(). Optional. Called as reserve is.
	 */
	void (*lost)(struct tp_sink *sink, enum tp_lost cause);
	/* The record is complete. Called once for each successful reserve that has set no rec->stream, by the same thread. */
	void (*commit)(struct tp_record *rec);
	/*
	 * A module with this event has been loaded, or the sink has just been
	 * opened and the event was there before: called for every event, enabled or not, before
	 * any record of it is written. Optional. 0, or a negative errno value,
	 * and then the event stays off in this sink, which is said on stderr;
	 * -ENOMEM fails tp_sink_open() as a whole.
	 */
	int (*describe)(struct tp_sink *sink, const struct tp_event *event);
	/*
	 * All describe calls of this load (or opening) are made. Optional;
	 * a sink that writes a description down does it here. 0, or a negative
	 * errno value: then tp_sink_open() fails, or the events of the module stay off.
	 *
	 * Both are called under a lock of the runtime: they must not open, close or
	 * enable anything, nor load modules, nor wait for what does.
	 */
	int (*described)(struct tp_sink *sink);
	/*
	 * Around a fork, by the thread that forks. Optional. A sink with a lock
	 * takes it in before_fork and gives it back in both others; in the child, no other thread exists.
	 */
	void (*before_fork)(struct tp_sink *sink);
	void (*after_fork_parent)(struct tp_sink *sink);
	void (*after_fork_child)(struct tp_sink *sink);
	/* Nothing is attached any more and no record is on its way: finish and free the sink. */
	int (*close)(struct tp_sink *sink);
};

/* The head of every sink: the first member of the sink's own structure. */
struct tp_sink {
	const struct tp_sink_ops *ops;
	uint64_t key;                   /* of the slots with its streams that records may go to directly, or TP_NO_KEY */
	uint32_t slot;                  /* of tp_stream_slots */
	unsigned long lost[TP_NR_LOST]; /* records, see tp_sink_count_lost() */
	void *reserved[6];              /* for the runtime: what is enabled */
};

/* No slot ever has it. */
#define TP_NO_KEY UINT64_MAX

/* Counts a record as lost. Safe in signal handlers. */
static inline void tp_sink_count_lost(struct tp_sink *sink, enum tp_lost cause)
{
	__atomic_fetch_add(&sink->lost[cause], 1, __ATOMIC_RELAXED);
}

/*
 * Makes the sink known to the runtime: calls describe for all events. ops
 * must outlive the sink; sink must stay at its address.
 * 0, -ENOMEM, or what described returned, and then nothing is known.
 */
TP_PUBLIC int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops);

/* What tp_reserve() and tp_commit() do where there is more to do than to write to a stream. */
TP_PUBLIC void *tp_reserve_slowly(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event,
				  size_t size) __attribute__((cold));
TP_PUBLIC void tp_commit_slowly(struct tp_record *rec) __attribute__((cold));

/*
 * Begins a record: the memory to fill in with its common header already
 * set, or NULL where the sink takes no more, or size is above TP_RECORD_MAX.
 */
TP_STREAM_INLINE void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event,
				  size_t size)
{
#if TP_HAS_COUNTER
	const struct tp_stream_slot *slot = &tp_stream_slots[sink->slot];

	if (__builtin_expect(slot->key == __atomic_load_n(&sink->key, __ATOMIC_RELAXED), 1) &&
	    __builtin_expect(size <= TP_RECORD_MAX, 1)) {
		rec->stream = slot->stream;
		void *entry = tp_stream_reserve(slot->stream, event->id, size, &rec->position);
		if (__builtin_expect(entry != NULL, 1))
			return entry;
	}
#endif
	/* A copy: what stays in registers otherwise has no address. */
	struct tp_record slow;
	void *memory = tp_reserve_slowly(&slow, sink, event, size);
	*rec = slow;
	return memory;
}

/* Ends it. */
TP_STREAM_INLINE void tp_commit(struct tp_record *rec)
{
	if (__builtin_expect(rec->stream != NULL, 1)) {
		tp_stream_commit(rec->stream, rec->position);
	} else {
		struct tp_record slow = *rec;
		tp_commit_slowly(&slow);
	}
}

/*
 * Memory for the sinks that don't hand out a buffer of their own: from a
 * stack of the calling thread, 16-byte aligned, given back in reverse order.
 * NULL when size does not fit any more (a thread's stack holds 256 KiB). Safe
 * in signal handlers.
 */
TP_PUBLIC void *tp_scratch_push(size_t size);
TP_PUBLIC void tp_scratch_pop(void *memory);

#ifdef __cplusplus
}
#endif

#endif /* TP_SINK_H */
