/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/stats.h - what the files of the statistics sink need of each other. Each of
 * them uses those below it only:
 *
 *	sink.c              the sink
 *	  options.c         how it is to be
 *	  file.c            the file, which is replaced as a whole
 *	  text.c            what is in it, for people ...
 *	  json.c            ... and for programs
 *	    report.c        and what values are called there
 *	    snapshot.c      a copy of what is shown
 *	  count.c           the way of a record: counting it in its thread's block
 *	    plan.c          what is counted of an event
 *	      sum.c         the memory and the lock of the counts; taking them, and adding them up
 *	        field.c     the values of a field
 *
 * A thread counts in a block of its own, and nobody else writes to what it
 * counts in. Counters have two banks: the block says in which the
 * thread counts. Who takes the counts, puts the thread on the other bank, waits until no
 * count in the old one is on its way, adds that to the sink's totals, and makes
 * it zero again. So what is taken belongs together (hits, sums, histograms),
 * nothing is read while it changes, and a busy thread can't keep it up.
 *
 *	the thread                                who takes its counts
 *	sequence = odd                            bank = the other
 *	(E)                                       (F) membarrier
 *	counts in bank                            sequence is even, or not what it was after (F)
 *	sequence = even, release  (G)             (H) acquire; reads and clears the old bank
 *
 * (E) is for the compiler only and pairs with (F), by which the processors
 * that run the process have a full barrier, each at some place: in front of the thread's load of
 * bank, and then it counts in the other one, or behind its store of sequence, and
 * then that is seen. Where the kernel has no membarrier, (E) is a full barrier
 * itself. (G) pairs with (H). The cleared bank is given back by the next store of
 * bank, which is a release, to a load that is an acquire.
 *
 * A signal handler that interrupts its thread while that counts finds
 * sequence odd, and counts in a second block; one that interrupts that, in a third, and there is a fourth.
 *
 * Locks: sink->writing is taken first, by who writes the file: the helper thread, tp_stats_write(), the
 * close. tp_stats_lock is taken by threads at their first hit and their exit, by forks, and
 * by who writes while that takes the counts and copies them. It is a leaf: its holder takes no other lock, and
 * calls nothing that the program may have replaced by something traced, but for mmap and syscall. Such a malloc
 * would wait for a text sink's FILE, whose holder may be about to hit its
 * first tracepoint. So the copy goes to memory that was mapped before, and is
 * formatted with sink->writing only. That no fork takes: in the child it is made anew.
 *
 * Memory: a block is mapped at a thread's first hit, a counter at the first
 * hit of the event in the block: 144 bytes for an event, and for each of its fields 2 KiB (integers),
 * 4 KiB (floats), 8 KiB (symbols) or 40 KiB (texts). Blocks of threads that have exited go
 * to new ones, so there are as many as there were threads at once. Of the sink,
 * a counter an event; with by=thread, 72 bytes a thread and event, for those that
 * run and the last 1,000 that have exited; the earlier ones are one together; and all
 * this once more while the file is written, as far as it has hits.
 */
#ifndef TP_STATS_H
#define TP_STATS_H

#include <pthread.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/mutex.h"
#include "base/text.h"
#include "events/events.h"
#include "events/pattern.h"
#include "count/names.h"
#include "filter/value.h"
#include "record/record.h"

/* Sinks that can be open at once: each has a slot in every thread's local storage, of which there is little. */
#define TP_STATS_SINKS 4

/* Blocks of a thread: its own, that of a handler that interrupts it in the middle of counting, and so on. */
#define TP_STATS_DEPTH 4

/* Threads that have exited and are still told apart. */
#define TP_STATS_EXITED 1000

/* Bytes of a text that are looked at, besides its length. */
#define TP_STATS_TEXT_BYTES 63

#define TP_STATS_NAME_SIZE 16 /* of a thread, as the system has it */

/* ---- What is counted ---- */

enum tp_stats_kind {
	TP_STATS_INTEGER,
	TP_STATS_FLOAT,
	TP_STATS_SYMBOL, /* an integer with names */
	TP_STATS_TEXT,
};

/* Of events, or of those of a thread. Times and intervals are in ticks of the sink's clock. */
struct tp_stats_base {
	uint64_t hits;
	uint64_t first, last; /* where there are hits */
	uint64_t intervals;   /* between a thread's hit and its next one; there are so many ... */
	uint64_t sum, min, max;
};

/* Bucket 0 is for 0, 1 + n for values from 2^n below 2^(n+1), 1 + TP_STATS_BITS + n for negative ones of that size. */
#define TP_STATS_BITS 64

struct tp_stats_integers {
	uint64_t count;
	uint64_t sum_low; /* a sum of 128 bits */
	int64_t sum_high;
	uint64_t min, max; /* with the top bit changed, where the field is signed: so they compare as unsigned */
	uint64_t buckets[1 + 2 * TP_STATS_BITS];
};

/* The same; n counts from 2^TP_STATS_LEAST, and what is beyond the buckets is in the last ones. */
#define TP_STATS_LEAST (-64)
#define TP_STATS_EXPONENTS 128

struct tp_stats_floats {
	uint64_t count; /* of finite ones; sum, min and max are theirs, too */
	uint64_t nan, infinite, negative_infinite;
	double sum, min, max;
	uint64_t buckets[1 + 2 * TP_STATS_EXPONENTS];
};

/*
 * A hash table, of which a quarter stays free. An entry is a count, 0 where
 * it is unused, and a key: a number; or a text's length and first bytes.
 */
struct tp_stats_top {
	uint64_t count; /* of all */
	uint64_t other; /* of those that found no room */
	uint64_t used;
	uint64_t entries[];
};

#define TP_STATS_NUMBER_WORDS 1
#define TP_STATS_TEXT_WORDS (1 + (TP_STATS_TEXT_BYTES + 1) / 8)

/* Where counts are: in a thread's block, or in the sink's totals, whose tables are larger. */
enum tp_stats_place {
	TP_STATS_OF_THREAD,
	TP_STATS_TOTAL,
	TP_STATS_NR_PLACES,
};

/* Entries of tables; powers of two. */
extern const uint32_t tp_stats_room[TP_STATS_NR_PLACES];

struct tp_stats_field {
	char *name;
	enum tp_stats_kind kind;
	struct tp_value value; /* where it is in the record */
	uint32_t at[TP_STATS_NR_PLACES]; /* in struct tp_stats_counts */
	struct tp_symbols *names; /* of symbols; NULL: none */
};

/* The base's, and the fields' behind it. */
struct tp_stats_counts {
	struct tp_stats_base base;
	char fields[];
};

/* What is counted of an event. It stays as long as the sink: the event's module may go. */
struct tp_stats_plan {
	struct tp_stats_plan *next;
	char *name; /* "system:event" */
	uint16_t id;
	uint32_t nr_fields;
	struct tp_stats_field *fields;
	uint32_t size[TP_STATS_NR_PLACES]; /* bytes of struct tp_stats_counts */
	struct tp_stats_counts *total;
};

static inline void *tp_stats_field_at(struct tp_stats_counts *counts, const struct tp_stats_field *field, enum tp_stats_place place)
{
	return (char *)counts + field->at[place];
}

/* ---- The threads' counters ---- */

/* Memory in pieces that are never given back one by one. */
struct tp_stats_arena {
	struct tp_stats_chunk *chunks;
	char *free;
	size_t left;
};

/* An event's, in a block; its two banks are behind it. */
struct tp_stats_counter {
	struct tp_stats_counter *next; /* of the block */
	const struct tp_stats_plan *plan;
	uint64_t previous;          /* the time of the thread's last hit; 0: there is none */
	struct tp_stats_thread_event *by_thread; /* where this goes; under tp_stats_lock */
};

static inline struct tp_stats_counts *tp_stats_bank(struct tp_stats_counter *counter, unsigned int bank)
{
	return (struct tp_stats_counts *)((char *)(counter + 1) + (size_t)bank * counter->plan->size[TP_STATS_OF_THREAD]);
}

#define TP_STATS_IDS_A_PAGE 512

struct tp_stats_block {
	uint64_t sequence; /* odd: the thread is counting in it */
	uint32_t bank;     /* in this one */
	unsigned int depth;
	struct tp_stats_counter **pages[TP_NR_IDS / TP_STATS_IDS_A_PAGE]; /* by the events' ids; NULL where none was hit */
	struct tp_stats_counter *counters; /* all of them */
	struct tp_stats_block *nested;     /* for handlers; or NULL */
	struct tp_stats_arena arena;

	/* Under tp_stats_lock. */
	struct tp_stats_block *next;      /* of all of the sink */
	struct tp_stats_block *next_free; /* of the pool */
	struct tp_stats_thread *thread;   /* whose it is, with by=thread */
	bool waiting;                  /* for the old bank, which was counted in in ... */
	uint64_t seen;                 /* ... this sequence, if it is odd */
};

/* A thread's hits of an event, and a thread that has some: with by=thread. */
struct tp_stats_thread_event {
	struct tp_stats_thread_event *next;
	const struct tp_stats_plan *plan;
	struct tp_stats_base base;
};

struct tp_stats_thread {
	struct tp_stats_thread *next;
	struct tp_stats_thread_event *events;
	int32_t tid;
	bool exited;
	char name[TP_STATS_NAME_SIZE];
};

struct tp_stats_slot {
	uint64_t key; /* the sink's generation; 0 is none's */
	struct tp_stats_block *block;
};

extern TP_THREAD_LOCAL struct tp_stats_slot tp_stats_slots[TP_STATS_SINKS];

/* ---- The sink ---- */

struct tp_stats_selector {
	char *text; /* "sched:*.prev_state" */
	struct tp_pattern *pattern;
	const char *field; /* a glob, too */
	bool found_event, found;
};

struct tp_stats_options {
	bool json, by_thread;
	bool live_children;   /* each has a thread that writes */
	bool of_file;         /* there is one of those that say when the file is written, or by whom */
	uint64_t interval_ns; /* 0: never by itself */
	uint64_t top;
	struct tp_stats_selector *selectors;
	size_t nr_selectors;
};

/* What the processes that have the sink by forks know of FILE together. */
struct tp_stats_heritage {
	pid_t owner;  /* whose counts are in it */
	bool counted; /* there are some */
};

struct tp_stats_sink {
	struct tp_sink head;
	struct tp_stats_options options;
	struct tp_clock clock;   /* which threads read */
	struct tp_clock refined; /* the same, for who writes: it knows better how fast the other goes; under writing */
	uint64_t generation; /* unique among all sinks, and anew in each child */
	uint32_t slot;
	bool fenced;         /* there is no membarrier, so (E) is more */
	struct tp_stats_plan **plans; /* by the events' ids */
	uint64_t begin;      /* ticks, when the sink was opened, or forked */
	bool forked;         /* this is a child ... */
	pid_t parent;        /* ... of this one */

	char *opened_path;   /* absolute; NULL: there is no file, */
	char *path;          /* and this is its user's name for it. Else that, or a child's own, as soon as this writes */
	pid_t path_pid;      /* whose path is */
	struct tp_stats_heritage *heritage; /* in memory that is shared with children */
	bool complained;
	int error;           /* the first that cost something */
	struct tp_mutex writing;
	struct tp_work work; /* writes the file */
	bool helped;

	/* Under tp_stats_lock. */
	struct tp_stats_plan *all_plans;
	struct tp_stats_block *blocks, *pool;
	bool changed;        /* there are counts that are not in the file */
	struct tp_stats_thread *threads, **threads_end;
	unsigned int nr_exited;
	struct tp_stats_thread others;             /* exited before the last TP_STATS_EXITED */
	struct tp_stats_thread *unused_threads;
	struct tp_stats_thread_event *unused_events;
	struct tp_stats_arena arena;
};

/* ---- sum.c: the memory ---- */

/* Zeroed; NULL where there is none. Inside tp_guard_enter(), as it is not malloc's. */
void *tp_stats_alloc(struct tp_stats_arena *arena, size_t size);
void tp_stats_arena_free(struct tp_stats_arena *arena);

/* ---- plan.c ---- */

/* The operations of the sink. */
int tp_stats_describe_event(struct tp_sink *head, const struct tp_event *event);

/* Says which of the options' fields no event had. */
void tp_stats_tell_missing(const struct tp_stats_sink *sink);

bool tp_stats_plans_begin(struct tp_stats_sink *sink);
void tp_stats_plans_free(struct tp_stats_sink *sink);

/* ---- field.c ---- */

/* Bytes that the field needs in counts there. */
uint32_t tp_stats_field_size(const struct tp_stats_field *field, enum tp_stats_place place);

/* Counts the value in a record of that size. */
void tp_stats_field_count(const struct tp_stats_field *field, void *counts, const void *entry, size_t size);

/* Adds a thread's to the total. */
void tp_stats_field_add(const struct tp_stats_field *field, void *total, const void *counts);

/* ---- count.c: the threads' blocks, and the way of a record ---- */

/* Gives the sink a slot. 0, EMFILE where all are taken, or EBUSY where another has the same file. */
int tp_stats_blocks_begin(struct tp_stats_sink *sink);
/* Takes it back: no exiting thread touches the blocks any more. */
void tp_stats_blocks_end(struct tp_stats_sink *sink);
void tp_stats_blocks_free(struct tp_stats_sink *sink);
/* In a forked child: nothing has been counted, and no other thread is there. */
void tp_stats_blocks_forget(struct tp_stats_sink *sink);
/* That has the slot, or NULL; NULL inside tp_guard_enter(), too. */
struct tp_stats_sink *tp_stats_sink_of_slot(uint32_t slot);

bool tp_stats_reserve(struct tp_record *rec);
void tp_stats_commit(struct tp_record *rec);

/* ---- sum.c: by=thread; under tp_stats_lock, but in a forked child ---- */

/* For this thread; NULL where there is no memory. */
struct tp_stats_thread *tp_stats_thread_new(struct tp_stats_sink *sink);
/* The calling thread is this one: most are given a name only after their first hit. */
void tp_stats_thread_take_name(struct tp_stats_thread *thread);
/* It has exited; of many such, the oldest become the others. */
void tp_stats_thread_end(struct tp_stats_sink *sink, struct tp_stats_thread *thread);
void tp_stats_threads_forget(struct tp_stats_sink *sink);
/* Under no lock: of any thread that runs, in a copy. One that has gone meanwhile keeps what it had. */
void tp_stats_thread_read_name(struct tp_stats_thread *thread);

/* ---- sum.c: taking; under tp_stats_lock ---- */

/* Takes what is in a bank that nobody counts in. */
void tp_stats_take_bank(struct tp_stats_sink *sink, struct tp_stats_block *block, unsigned int bank);

/*
 * Takes all threads' counts; may give the lock back for a while. With
 * sink->writing, so one at a time. final: no thread counts any more.
 */
void tp_stats_take(struct tp_stats_sink *sink, bool final);

/* ---- snapshot.c: with sink->writing only ---- */

/* Of an event, a copy of its total. */
struct tp_stats_event {
	const struct tp_stats_plan *plan;
	struct tp_stats_counts *total;
};

struct tp_stats_report {
	struct tp_stats_sink *sink;
	struct tp_stats_event *events; /* that have hits, by their number, most first */
	size_t nr_events;
	struct tp_stats_thread *threads, *others; /* with by=thread: copies */
	uint64_t begin_ns, now_ns;  /* since the epoch */
	double seconds;             /* between them */
	bool final;                 /* the sink is being closed */

	void *memory; /* that all this is in, mapped; NULL: there is none, and nothing in it */
	size_t size, used;
};

/* Takes all counts. False where there is nothing new, and it was not wanted always. To be freed in any case. */
bool tp_stats_report_take(struct tp_stats_report *report, struct tp_stats_sink *sink, bool always, bool final);
void tp_stats_report_free(struct tp_stats_report *report);

/* ---- report.c, and the two that write one ---- */

uint64_t tp_stats_ns(const struct tp_clock *clock, uint64_t ticks); /* of an interval */

/* A value of a table, as it is shown. */
struct tp_stats_value {
	uint64_t count;
	const uint64_t *key;
};

/* The *nr values of a total's table, the most frequent first; the caller frees them. NULL: no memory. */
struct tp_stats_value *tp_stats_values(const struct tp_stats_field *field, const struct tp_stats_top *top, size_t *nr);

/* A text's first bytes, with a NUL; of its last character, where that was cut, none. */
void tp_stats_text_of(char text[TP_STATS_TEXT_BYTES + 1], const uint64_t *key);

/* Appends a sum, in full. */
void tp_stats_put_sum(struct tp_buffer *b, const struct tp_stats_integers *n);
double tp_stats_mean(const struct tp_stats_integers *n);

/* What min and max say: appended as what the field's values are. */
void tp_stats_put_integer(struct tp_buffer *b, const struct tp_stats_field *field, uint64_t order);

/* What is in bucket i: the values that are nearest to 0 and farthest from it; of floats, the latter is not in it. */
void tp_stats_put_bucket(struct tp_buffer *b, const struct tp_stats_field *field, unsigned int i, const char *between);

/* The buckets of a number's field, and how many there are; in order of their values is tp_stats_bucket(0), (1) ... */
const uint64_t *tp_stats_buckets(const struct tp_stats_field *field, const void *counts, unsigned int *nr);
unsigned int tp_stats_bucket(unsigned int nr, unsigned int place);

void tp_stats_text(struct tp_buffer *b, const struct tp_stats_report *report);
void tp_stats_json(struct tp_buffer *b, const struct tp_stats_report *report);

/* ---- file.c; errors are errno values ---- */

/* Finds out where FILE is. 0, or EINVAL, of which it was said what is wrong. */
int tp_stats_file_open(struct tp_stats_sink *sink, const char *file);
void tp_stats_file_close(struct tp_stats_sink *sink);
/* FILE.PID was written, and FILE may be now. */
bool tp_stats_file_moves(const struct tp_stats_sink *sink);
/* Replaces FILE, or FILE.PID in a child. counted: there are hits in the text. 0, or an error, which it says once. */
int tp_stats_file_replace(struct tp_stats_sink *sink, const struct tp_buffer *text, bool counted);

/* ---- sink.c: for the folders above ---- */

/*
 * As tp_stats_sink(), but there is no file, and no thread that writes it: tp_stats_report() has what was counted. So
 * interval= and children= are refused. name is what messages call it. A forked child counts from 0.
 */
struct tp_sink *tp_stats_sink_without_file(const char *name, const char *options);

/*
 * Appends to the buffer what a file would have now, as JSON or as text, whatever the sink's options say; of sinks with a
 * file, too. 0, or a negative errno value: -EINVAL, it is no statistics sink; -ENOMEM; -EDEADLK, as of tp_stats_write().
 */
int tp_stats_report(struct tp_sink *sink, bool json, struct tp_buffer *to);

/* ---- options.c ---- */

/* False, after saying what is wrong with which. To be freed in any case. */
bool tp_stats_options_parse(struct tp_stats_options *options, const char *text, const char *file);
void tp_stats_options_free(struct tp_stats_options *options);

#endif /* TP_STATS_H */
