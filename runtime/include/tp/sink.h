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
#include <tp/scratch.h>

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

struct tp_stream;

/* A record on its way. It lives on the record writer's stack from reserve to commit. */
struct tp_record {
	struct tp_sink *sink;
	const struct tp_event *event;
	struct trace_entry *entry; /* the record's bytes, 8-byte aligned */
	uint32_t size;             /* bytes, header and payloads included */
	uint64_t time;             /* nanoseconds since the epoch; reserve may set it, for commit */
	void *sink_data[2];        /* the sink's own, from reserve to commit */
	struct tp_stream *stream;  /* for the runtime: that it is in, and then the sink's commit is not called ... */
	uint64_t position;         /* ... and where its place in it begins */
};

struct tp_sink_ops {
	const char *name; /* "text" */
	/*
	 * Sets rec->entry to rec->size writable bytes. False, after counting
	 * the record as lost, where there is no room; or where the sink has all that
	 * it wants of the record. Called from any thread and from signal handlers.
	 */
	bool (*reserve)(struct tp_record *rec);
	/*
	 * The runtime has refused a record, for being longer than TP_RECORD_MAX
	 * for one: counts it, in the place of tp_sink_count_lost(). Optional. Called as reserve is.
	 */
	void (*lost)(struct tp_sink *sink, enum tp_lost cause);
	/* The record is complete. Called once for each successful reserve, by the same thread. */
	void (*commit)(struct tp_record *rec);
	/*
	 * A module with this event has been loaded, or the sink has just been
	 * opened and the event was there before. Called for every event, enabled
	 * or not, before any record of it is written. Optional. 0, or a negative
	 * errno value: the event stays off in this sink then, after a message.
	 * -ENOMEM fails tp_sink_open() as a whole.
	 */
	int (*describe_event)(struct tp_sink *sink, const struct tp_event *event);
	/*
	 * All events of this load (or opening) have been described. Optional; a
	 * sink that writes descriptions down does it here, once for all of them.
	 * 0, or a negative errno value: then tp_sink_open() fails, or the events
	 * of the module stay off.
	 *
	 * Both are called under a lock of the runtime: they must not open, close or
	 * enable anything, nor load modules, nor wait for what does.
	 */
	int (*write_descriptions)(struct tp_sink *sink);
	/*
	 * Around a fork, by the thread that forks. Optional. A sink with a lock
	 * takes it in before_fork and gives it back in both others; in the child, no other thread exists.
	 */
	void (*before_fork)(struct tp_sink *sink);
	void (*after_fork_parent)(struct tp_sink *sink);
	void (*after_fork_child)(struct tp_sink *sink);
	/*
	 * An int that is 0 while the sink would take no record of the event, at an
	 * address that stays valid for ever. Optional; NULL where there is none. While the
	 * sink's is the only probe of the tracepoint, its site then does no more than look at it, on
	 * x86-64 and arm64; but reserve may be called nevertheless. Called under a lock, after describe_event.
	 */
	const int *(*gate)(struct tp_sink *sink, const struct tp_event *event);
	/* Nothing is attached any more and no record is on its way: finish and free the sink. */
	int (*close)(struct tp_sink *sink);
};

/* The head of every sink: the first member of the sink's own structure. */
struct tp_sink {
	const struct tp_sink_ops *ops;
	uint64_t key;                   /* for the runtime: what says ... */
	uint32_t slot;                  /* ... that a thread has a stream in it, and where */
	unsigned long lost[TP_NR_LOST]; /* records, see tp_sink_count_lost() */
	void *reserved[6];              /* for the runtime: what is enabled */
};

/* Counts a record as lost. Safe in signal handlers. */
static inline void tp_sink_count_lost(struct tp_sink *sink, enum tp_lost cause)
{
	__atomic_fetch_add(&sink->lost[cause], 1, __ATOMIC_RELAXED);
}

/*
 * Makes the sink known to the runtime: calls describe_event for all events. ops
 * must outlive the sink; sink must stay at its address.
 * 0, -ENOMEM, -EINVAL (they are of another interface than the library serves),
 * or what write_descriptions() returned, and then nothing is known.
 */
static inline int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops);

/* The function behind it, which is told how long both are where it is called. */
TP_PUBLIC int tp_sink_open_sized(struct tp_sink *sink, size_t sink_size, const struct tp_sink_ops *ops, size_t ops_size);

static inline int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops)
{
	return tp_sink_open_sized(sink, sizeof(*sink), ops, sizeof(*ops));
}

/*
 * The number of records that sink could not take, for whatever cause, or for
 * one of enum tp_lost. In a forked child it starts again at 0.
 */
TP_PUBLIC unsigned long tp_sink_lost(struct tp_sink *sink);
TP_PUBLIC unsigned long tp_sink_lost_by(struct tp_sink *sink, enum tp_lost cause);

/*
 * Detaches everything from sink, waits until no record is on its way,
 * finishes the output and frees the sink. Probes that were registered by
 * hand with this sink as data must be unregistered before.
 * 0, or the negative errno value of what went wrong with the output, at any time since it
 * was opened; the sink is gone in any case. NULL is -EINVAL, a call from
 * inside a probe -EDEADLK, and then nothing has happened.
 */
TP_PUBLIC int tp_sink_close(struct tp_sink *sink);

/*
 * Begins a record: the memory to fill in with its common header already
 * set, or NULL where the sink takes no more, or size is above TP_RECORD_MAX.
 */
TP_PUBLIC void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size);

/* Ends it. */
TP_PUBLIC void tp_commit(struct tp_record *rec);

#ifdef __cplusplus
}
#endif

#endif /* TP_SINK_H */
