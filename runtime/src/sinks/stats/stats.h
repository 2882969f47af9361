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
 *	    report.c        hits and intervals of events and threads, as they are now
 *	    values.c        the values of fields, as they are now; how they are called
 *	  count.c           the way of a record: it is counted
 *	    threads.c       which threads have hit which events; what those that have exited have left
 *	    plan.c          what is counted of an event
 *	      field.c       the value of a field
 *
 * All numbers are in rows of count/counters.h, one for each thread; values with names and texts are in tables of
 * count/table.h. So threads and their handlers count without a lock, and whoever shows a number adds up the rows.
 *
 * Only intervals between hits are each thread's own. So at a thread's first hit of an event, a share of the thread and the
 * event is noted, to which the event's part of the thread's row goes when the thread exits: the row's next thread begins at 0.
 * Fields' values stay in the row.
 *
 * Hits of threads that have no row, and first hits that can't be noted, have no intervals.
 *
 * Locks: sink->writing is taken first, by who writes the file: the helper thread, tp_stats_write(), the
 * close. tp_stats_lock is taken by threads at their first hit of an event and at their exit, by forks, and
 * by who writes while that copies the shares. It is a leaf: its holder takes no other lock, and
 * calls nothing that the program may have replaced by something traced, but for mmap and syscall. Such a malloc
 * would wait for a text sink's FILE, whose holder may be about to hit its
 * first tracepoint. sink->writing is taken by no fork: in the child it is made anew.
 */
#ifndef TP_STATS_H
#define TP_STATS_H

#include <pthread.h>

#include "base/base.h"
#include "base/clock.h"
#include "base/helper.h"
#include "base/mutex.h"
#include "base/text.h"
#include "count/counters.h"
#include "count/table.h"
#include "events/events.h"
#include "events/pattern.h"
#include "count/names.h"
#include "filter/value.h"
#include "record/record.h"

/* Threads that have exited and are still told apart. */
#define TP_STATS_EXITED 1000

/* Bytes of a text that are looked at, besides its length. */
#define TP_STATS_TEXT_BYTES 63

#define TP_STATS_NAME_SIZE 16 /* of a thread, as the system has it */

/* ---- What is counted ---- */

/* Places in an event's part of a row. Times and intervals are in ticks of the sink's clock. */
enum {
	TP_STATS_HITS,
	TP_STATS_FIRST,
	TP_STATS_SHORTEST,   /* interval between two hits of the thread, with all bits changed, so that 0 is none */
	TP_STATS_LONGEST,
	TP_STATS_LAST,       /* 0: the thread has not hit the event yet */
	TP_STATS_BASE_WORDS = 8, /* fields are behind it; a cache line */
};

/* Bucket 0 is for 0, 1 + n for values from 2^n below 2^(n+1), 1 + TP_STATS_BITS + n for negative ones of that size. */
#define TP_STATS_BITS 64

/* The same of floats; n counts from 2^TP_STATS_LEAST, and what is beyond the buckets is in the last ones. */
#define TP_STATS_LEAST (-64)
#define TP_STATS_EXPONENTS 128
#define TP_STATS_BUCKETS (1 + 2 * TP_STATS_EXPONENTS)

/* Places in the part of a field of numbers. */
enum {
	TP_STATS_POSITIVE = 0, /* integers: the sum of those that are not negative, of 128 bits; */
	TP_STATS_NEGATIVE = 2, /* that of the others, without their sign: a sum that is read in between is not far off */
	TP_STATS_NAN = 0,      /* floats: how many there were; */
	TP_STATS_INFINITE = 1,
	TP_STATS_NEGATIVE_INFINITE = 2,
	TP_STATS_SUM = 3,      /* the bits of the finite ones' sum */
	TP_STATS_MIN = 4,      /* as numbers that compare as unsigned; min with all bits changed, so that 0 is none */
	TP_STATS_MAX = 5,
	TP_STATS_BUCKETS_AT = 6,
};

enum tp_stats_kind {
	TP_STATS_INTEGER,
	TP_STATS_FLOAT,
	TP_STATS_SYMBOL, /* an integer with names */
	TP_STATS_TEXT,
};

/* A text's key is its length and its first bytes. */
#define TP_STATS_TEXT_WORDS (1 + (TP_STATS_TEXT_BYTES + 1) / 8)

/* Values of a symbol or a text that are told apart; a power of two. */
#define TP_STATS_VALUES 4096u

struct tp_stats_field {
	char *name;
	enum tp_stats_kind kind;
	struct tp_value value;       /* where it is in the record */
	size_t at;                   /* of numbers: where they are in a row */
	struct tp_count_table table; /* of symbols and texts */
	struct tp_symbols *names;    /* of symbols; NULL: none */
};

/* Else it has a table. */
static inline bool tp_stats_has_numbers(const struct tp_stats_field *field)
{
	return field->kind == TP_STATS_INTEGER || field->kind == TP_STATS_FLOAT;
}

/* Of events, or of those of a thread. */
struct tp_stats_base {
	uint64_t hits;
	uint64_t first, last; /* where there are hits */
	uint64_t intervals;   /* between a thread's hit and its next one; there are so many ... */
	uint64_t sum, min, max;
};

/* What is counted of an event. It stays as long as the sink: the event's module may go. */
struct tp_stats_plan {
	struct tp_stats_plan *next;
	char *name; /* "system:event" */
	uint32_t nr_fields;
	struct tp_stats_field *fields;
	struct tp_counters *counters; /* which it shares with other events, ... */
	size_t at;                    /* and where its own begin in a row */
	struct tp_stats_base gone;    /* of threads that have exited and are not told apart any more; under tp_stats_lock */
	struct tp_stats_event *event; /* in the report that is being made; with sink->writing */
};

/* Counters of several events. */
struct tp_stats_chunk {
	struct tp_stats_chunk *next;
	struct tp_counters *counters;
	size_t size, used;
};

/* ---- Threads; under tp_stats_lock ---- */

/* What a thread has of an event. */
struct tp_stats_share {
	struct tp_stats_share *next;
	struct tp_stats_plan *plan;
	uint64_t *row;             /* the thread's, while it runs */
	struct tp_stats_base base; /* when it has exited */
};

struct tp_stats_thread {
	struct tp_stats_thread *next;
	struct tp_stats_share *shares;
	int32_t tid;
	bool exited;
	char name[TP_STATS_NAME_SIZE]; /* with by=thread */
};

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
	struct tp_stats_sink *next; /* of all, under tp_stats_lock */
	struct tp_stats_options options;
	struct tp_clock clock;   /* which threads read */
	struct tp_clock refined; /* the same, for who writes: it knows better how fast the other goes; under writing */
	struct tp_stats_plan **plans;  /* by the events' ids */
	struct tp_stats_chunk *chunks; /* under tp_events_lock; the first has room */
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
	TP_WHOLE uint64_t written;    /* hits that are in the file; under writing */
	struct tp_work work; /* writes the file */
	bool helped;

	/* Under tp_stats_lock. */
	struct tp_stats_plan *all_plans;
	size_t nr_plans;
	struct tp_stats_thread *running[TP_COUNTER_ROWS]; /* by the numbers of their rows */
	struct tp_stats_thread *threads, **threads_end;
	size_t nr_shares;
	unsigned int nr_exited;
	struct tp_stats_thread *unused_threads;
	struct tp_stats_share *unused_shares;
	struct tp_stats_block *blocks; /* of memory that these are in */
	size_t left;                   /* bytes of the first */
};

/* ---- field.c ---- */

static inline unsigned int tp_stats_nr_buckets(const struct tp_stats_field *field)
{
	return 1 + 2 * (field->kind == TP_STATS_FLOAT ? TP_STATS_EXPONENTS : TP_STATS_BITS);
}

/* Counts the value in a record of that size, in this row of the event's counters. */
void tp_stats_field_count(struct tp_stats_field *field, const struct tp_counters *counters, uint64_t *row, const void *entry,
			  size_t size);

/* ---- plan.c ---- */

/* The operations of the sink. */
int tp_stats_describe_event(struct tp_sink *head, const struct tp_event *event);

/* Says which of the options' fields no event had. */
void tp_stats_tell_missing(const struct tp_stats_sink *sink);

bool tp_stats_plans_begin(struct tp_stats_sink *sink);
/* In a forked child: nothing has been counted. */
void tp_stats_plans_forget(struct tp_stats_sink *sink);
void tp_stats_plans_free(struct tp_stats_sink *sink);

/* ---- threads.c ---- */

/* All sinks. Under tp_stats_lock, but in a child that a fork has just made. */
extern struct tp_stats_sink *tp_stats_sinks;

/* EBUSY: another one has the same file. */
int tp_stats_sinks_add(struct tp_stats_sink *sink);
/* Then no exiting thread looks at it any more. */
void tp_stats_sinks_remove(struct tp_stats_sink *sink);

/*
 * The calling thread's first hit of the event, at this time in its own row, is counted, so that its share begins with it.
 * False: it can't be noted. Inside tp_guard_enter().
 */
bool tp_stats_share_begin(struct tp_stats_sink *sink, struct tp_stats_plan *plan, uint64_t *row, uint64_t now);

/* What is in a row, and the sum of two. */
struct tp_stats_base tp_stats_base_in(const uint64_t *row, const struct tp_stats_plan *plan);
void tp_stats_base_add(struct tp_stats_base *total, const struct tp_stats_base *base);

/* Under no lock: the name of any thread that runs. One that has gone meanwhile keeps what it had. */
void tp_stats_thread_name(int32_t tid, char name[TP_STATS_NAME_SIZE]);

/* In a forked child: no other thread is there, and this one has hit nothing. */
void tp_stats_threads_forget(struct tp_stats_sink *sink);
void tp_stats_threads_free(struct tp_stats_sink *sink);

/* ---- count.c: the way of a record ---- */

bool tp_stats_reserve(struct tp_record *rec);
void tp_stats_commit(struct tp_record *rec);

/* ---- report.c: with sink->writing only ---- */

/* A thread's share of an event, or that of all who are not told apart. */
struct tp_stats_row {
	struct tp_stats_row *next; /* of the event */
	struct tp_stats_plan *plan;
	bool others, exited;
	int32_t tid;
	char name[TP_STATS_NAME_SIZE];
	struct tp_stats_base base;
};

struct tp_stats_event {
	const struct tp_stats_plan *plan;
	struct tp_stats_base base;
	struct tp_stats_row *rows, **rows_end;
};

struct tp_stats_report {
	struct tp_stats_sink *sink;
	struct tp_stats_event *events; /* that have hits, by their number, most first */
	size_t nr_events;
	struct tp_stats_row *rows;
	size_t nr_rows, room;
	uint64_t hits;              /* of all events */
	uint64_t begin_ns, now_ns;  /* since the epoch */
	double seconds;             /* between them */
	bool final;                 /* the sink is being closed */
};

/* What was counted so far, but for the fields' values. False: no memory. To be freed in any case. */
bool tp_stats_report_take(struct tp_stats_report *report, struct tp_stats_sink *sink, bool final);
void tp_stats_report_free(struct tp_stats_report *report);

/* ---- values.c: those of fields, as they are now; and how they are called ---- */

uint64_t tp_stats_ns(const struct tp_clock *clock, uint64_t ticks); /* of an interval */

/* A value of a table. */
struct tp_stats_value {
	uint64_t count;
	const uint64_t *key;
	uint32_t nr_words;
};

/* The most frequent first. */
struct tp_stats_values {
	struct tp_stats_value *values; /* the caller frees them; NULL: no memory */
	size_t nr, shown;
	uint64_t count; /* of all, ... */
	uint64_t rest;  /* ... of those that are not shown, ... */
	uint64_t other; /* ... and of those that found no room */
};

/* Those of a symbol's or a text's field, of which as many are shown at most. */
void tp_stats_values_take(struct tp_stats_values *values, const struct tp_stats_field *field, uint64_t shown);

/* A text's first bytes, with a NUL; of its last character, where that was cut, none. */
void tp_stats_text_of(char text[TP_STATS_TEXT_BYTES + 1], const uint64_t *key);

/* What was counted of a field of numbers. min and max are as they compare. */
struct tp_stats_numbers {
	uint64_t count; /* of floats: of finite ones; sum, min and max are theirs, too */
	uint64_t nan, infinite, negative_infinite;
	uint64_t positive[2], negative[2]; /* sums of integers, lower half first */
	double sum;                        /* of floats */
	uint64_t min, max;
	uint64_t buckets[TP_STATS_BUCKETS];
};

void tp_stats_numbers_take(struct tp_stats_numbers *n, const struct tp_stats_field *field, const struct tp_counters *counters);

/* Appends a sum of integers, in full. */
void tp_stats_put_sum(struct tp_buffer *b, const struct tp_stats_numbers *n);
double tp_stats_mean(const struct tp_stats_numbers *n);

/* What min and max say: appended, or returned, as what the field's values are. */
void tp_stats_put_integer(struct tp_buffer *b, const struct tp_stats_field *field, uint64_t order);
double tp_stats_float_of(uint64_t order);

/* What is in bucket i: the values that are nearest to 0 and farthest from it; of floats, the latter is not in it. */
void tp_stats_put_bucket(struct tp_buffer *b, const struct tp_stats_field *field, unsigned int i, const char *between);

/* In order of their values, nr buckets are tp_stats_bucket(nr, 0), (nr, 1) ... */
unsigned int tp_stats_bucket(unsigned int nr, unsigned int place);

/* ---- text.c, json.c ---- */

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
