/* SPDX-License-Identifier: MIT */
/*
 * tp/sink.h - where records go: the functions that a generated record writer calls, and the
 * operations that a sink of your own has to provide.
 *
 * A record writer reserves room for a record of known size, fills it in and commits it. All of this
 * happens in the thread that hits the tracepoint, inside an RCU read-side critical section. Between
 * reserve and commit, a signal handler can reserve and commit records of its own, and so can a
 * tracepoint that is hit inside TP_fast_assign. Records nest: the one that was reserved last is
 * committed first.
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
	TP_LOST_NO_FILE,   /* a file can't be made or written to: a full disk, a directory that was removed */
	TP_LOST_LIMIT,     /* the sink has reached its own limits, or its reader does not keep up */
	TP_LOST_NESTED,    /* in a signal handler, or inside another record, and there was no room or no way on */
	TP_LOST_TOO_LARGE, /* longer than TP_RECORD_MAX, or than a packet */
	TP_LOST_OTHER,     /* no memory; an event that the sink can't describe */
	TP_NR_LOST,
};

struct tp_stream;

/* A record from reserve to commit. It lives on the record writer's stack. */
struct tp_record {
	struct tp_sink *sink;
	const struct tp_event *event;
	struct trace_entry *entry; /* the record's bytes, 8-byte aligned */
	uint32_t size;             /* bytes, header and payloads included */
	uint64_t time;             /* nanoseconds since the epoch; reserve can set it, for commit */
	void *sink_data[2];        /* the sink's own, from reserve to commit */
	struct tp_stream *stream;  /* for the runtime: the record's stream; if set, the sink's commit is not called */
	uint64_t position;         /* for the runtime: where the record's place in the stream begins */
};

struct tp_sink_ops {
	const char *name; /* "text" */
	/*
	 * Sets rec->entry to rec->size writable bytes, and returns true. Returns false if there is
	 * no room, after counting the record as lost; or if the sink needs nothing more of the
	 * record. Called from any thread and from signal handlers.
	 */
	bool (*reserve)(struct tp_record *rec);
	/*
	 * Counts a record that the runtime has refused, for one because it is longer than
	 * TP_RECORD_MAX. Optional: without it, the runtime calls tp_sink_count_lost(). Called in
	 * the same contexts as reserve.
	 */
	void (*lost)(struct tp_sink *sink, enum tp_lost cause);
	/* Takes the record, which is complete now. Called once for each successful reserve, by the same thread. */
	void (*commit)(struct tp_record *rec);
	/*
	 * Announces an event to the sink: when a module with it has been loaded, or, for events
	 * that are there already, when the sink is opened. Called for every event, enabled or not,
	 * before any record of it is written. Optional. Returns 0, or a negative errno value: then
	 * the event stays off in this sink, after a message. -ENOMEM makes tp_sink_open() fail as a
	 * whole.
	 */
	int (*describe_event)(struct tp_sink *sink, const struct tp_event *event);
	/*
	 * Called when all events of this load (or opening) have been described. A sink that writes
	 * descriptions to a file does it here, once for all of them. Optional. Returns 0, or a
	 * negative errno value: then tp_sink_open() fails, or the events of the module stay off.
	 *
	 * describe_event and write_descriptions are called under a lock of the runtime. They must
	 * not open, close or enable anything, nor load modules, nor wait for a thread that does.
	 */
	int (*write_descriptions)(struct tp_sink *sink);
	/*
	 * Called around a fork, by the thread that forks. Optional. A sink with a lock takes it in
	 * before_fork and releases it in the other two. In the child, no other thread exists.
	 */
	void (*before_fork)(struct tp_sink *sink);
	void (*after_fork_parent)(struct tp_sink *sink);
	void (*after_fork_child)(struct tp_sink *sink);
	/*
	 * Returns the address of an int that is 0 while the sink would take no record of the event,
	 * or NULL if the event has none. The address must stay valid for ever. While the int is 0
	 * and the tracepoint has only the sink's probe, its site looks at the int and does nothing
	 * more, on x86-64 and arm64. But reserve can be called nevertheless. Optional. Called under
	 * a lock, after describe_event.
	 */
	const int *(*enable_flag)(struct tp_sink *sink, const struct tp_event *event);
	/*
	 * Finishes the output and frees the sink. Nothing is attached any more, and no record is
	 * between reserve and commit. Returns 0, or a negative errno value, which tp_sink_close()
	 * returns.
	 */
	int (*close)(struct tp_sink *sink);
};

/* The head of every sink: the first member of the sink's own structure. */
struct tp_sink {
	const struct tp_sink_ops *ops;
	uint64_t key __attribute__((aligned(8))); /* for the runtime: shows whether a thread has a stream in the sink ... */
	uint32_t slot;                  /* ... and in which of the thread's slots */
	unsigned long lost[TP_NR_LOST]; /* records, see tp_sink_count_lost() */
	/*
	 * For the runtime: what is enabled; if [1] is set, tp_early_sink() is to be called; [2] is set in a forked child,
	 * where tp_sink_count_for_opener() is; [3] is the path of a trace.
	 */
	void *reserved[6];
};

/* The function that these call in a forked child: the process that has opened the sink can tell of its losses. */
TP_PUBLIC void tp_sink_count_for_opener(struct tp_sink *sink, enum tp_lost cause, unsigned long nr);

/* Count a record, or so many, as lost. Safe in signal handlers. */
static inline void tp_sink_count_all_lost(struct tp_sink *sink, enum tp_lost cause, unsigned long nr)
{
	__atomic_fetch_add(&sink->lost[cause], nr, __ATOMIC_RELAXED);
	if (sink->reserved[2])
		tp_sink_count_for_opener(sink, cause, nr);
}

static inline void tp_sink_count_lost(struct tp_sink *sink, enum tp_lost cause)
{
	tp_sink_count_all_lost(sink, cause, 1);
}

/*
 * Makes the sink known to the runtime, and calls describe_event for all events. ops must outlive
 * the sink; sink must stay at its address.
 *
 * Returns 0, or a negative errno value, and then the runtime does not know the sink:
 *	-ENOMEM
 *	-EINVAL  the structures are of an interface that the library does not serve
 *	others   what write_descriptions() returned
 */
static inline int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops);

/* The function that tp_sink_open() calls, with the sizes that both structures have in the caller's headers. */
TP_PUBLIC int tp_sink_open_sized(struct tp_sink *sink, size_t sink_size, const struct tp_sink_ops *ops, size_t ops_size);

static inline int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops)
{
	return tp_sink_open_sized(sink, sizeof(*sink), ops, sizeof(*ops));
}

/*
 * Return the number of records that sink has lost, for all causes together or for one cause. In a
 * forked child the numbers start again at 0.
 */
TP_PUBLIC unsigned long tp_sink_lost(struct tp_sink *sink);
TP_PUBLIC unsigned long tp_sink_lost_by(struct tp_sink *sink, enum tp_lost cause);

/*
 * Detaches all events from sink, waits until no record is between reserve and commit, finishes the
 * output and frees the sink. Probes that were registered by hand with this sink as data must be
 * unregistered before.
 *
 * Returns 0, or a negative errno value:
 *	-EINVAL   sink is NULL
 *	-EDEADLK  called from inside a probe; sink is as before
 *	others    an error of the output, at any time since it was opened; the sink is freed nevertheless
 */
TP_PUBLIC int tp_sink_close(struct tp_sink *sink);

/*
 * Begins a record. Returns the memory to fill in, with the common header already set; or NULL if
 * the sink does not take the record, or size is above TP_RECORD_MAX.
 */
TP_PUBLIC void *tp_reserve(struct tp_record *rec, struct tp_sink *sink, const struct tp_event *event, size_t size);

/* Ends the record that tp_reserve() has begun in rec. */
TP_PUBLIC void tp_commit(struct tp_record *rec);

/*
 * Evaluates the filter of a sink that asks, before anything else of a record is computed. early is the
 * fixed part of a record of the event in which only some fields are set, or none: a bit for each, the
 * lowest for the event's first field. The function sets the header, if it needs that. Called in the
 * same contexts as tp_reserve(), before it. It is weak: a program that is linked with libtp.a and has
 * no filters does without it.
 *
 * Returns the sink into which the record is to be made: sink itself, if the filter needs other fields;
 * or NULL if the event is refused.
 */
TP_PUBLIC struct tp_sink *tp_early_sink(struct tp_sink *sink, const struct tp_event *event, struct trace_entry *early,
					uint64_t fields) __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif /* TP_SINK_H */
