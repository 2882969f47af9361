/* SPDX-License-Identifier: MIT */
/*
 * sinks/latency/latency.h - how long it takes from one event to another: an output that keeps no records, and adds up the
 * time from each begin to its end. tp_enable() and its like say which events it gets, and with which filters.
 *
 *	options.c   begin=, end=, key=, by=, slowest=
 *	sink.c      the output, and the way of a record
 *	  event.c   where in an event's record its key is
 *	slowest.c   the slowest pairs, with their records
 *	json.c      what has been measured
 */
#ifndef TP_LATENCY_H
#define TP_LATENCY_H

#include <tp/sink.h>

#include "base/clock.h"
#include "base/end_file.h"
#include "base/text.h"
#include "count/buckets.h"
#include "count/pairs.h"
#include "count/table.h"
#include "events/pattern.h"
#include "filter/value.h"

/* For the folders above. */

/*
 * Options: "begin=EVENTS,end=EVENTS,key=FIELD+...,by=FIELD+...,slowest=N"; docs/latency.md. file: where the JSON goes at the
 * sink's closing; NULL: nowhere. name is for messages. NULL with errno set: EINVAL after a message, or ENOMEM.
 */
struct tp_sink *tp_latency_sink(const char *name, const char *file, const char *options);

bool tp_is_latency(const struct tp_sink *sink);

/* Appends a JSON object, as docs/latency.md describes it. 0 or -ENOMEM. */
int tp_latency_report(struct tp_sink *sink, struct tp_buffer *to);

/* ---- The folder's own ---- */

#define TP_LATENCY_FIELDS 3
#define TP_LATENCY_SLOWEST 100

enum tp_latency_role {
	TP_LATENCY_BEGIN,
	TP_LATENCY_END,
	TP_LATENCY_NR_ROLES,
};

struct tp_latency_options {
	struct tp_pattern *events[TP_LATENCY_NR_ROLES];
	char *fields[TP_LATENCY_NR_ROLES][TP_LATENCY_FIELDS]; /* of the key */
	uint32_t nr_fields;   /* 0: the key is the thread */
	char *by[TP_LATENCY_FIELDS];
	uint32_t nr_by;
	uint64_t slowest;
};

bool tp_latency_options_parse(struct tp_latency_options *options, const char *text, const char *name);
void tp_latency_options_free(struct tp_latency_options *options);

/* A value of a record, in a key. */
struct tp_latency_part {
	bool is_text;
	struct tp_value value;
	struct tp_symbols *names; /* of its values; or NULL */
};

/* What is to be done with an event's records. It stays as long as the sink: the event's module may go. */
struct tp_latency_event {
	struct tp_latency_event *next;
	uint16_t id;
	const struct tp_event *event; /* of the program's own file, which is never unloaded; else NULL */
	bool has_role[TP_LATENCY_NR_ROLES];
	struct tp_latency_part key[TP_LATENCY_NR_ROLES][TP_LATENCY_FIELDS];
	bool has_by;
	struct tp_latency_part by[TP_LATENCY_FIELDS];
	char name[];          /* "system:event" */
};

/* ---- slowest.c ---- */

/* One of the slowest pairs: its times are in ticks. */
struct tp_latency_slow {
	uint64_t ns; /* 0: there is none here */
	uint64_t time[TP_LATENCY_NR_ROLES];
	uint32_t size[TP_LATENCY_NR_ROLES]; /* of the record; 0: it was too long to be kept */
	char record[TP_LATENCY_NR_ROLES][TP_PAIRS_RECORD] __attribute__((aligned(8)));
};

struct tp_latency_slot {
	uint64_t sequence; /* odd: somebody writes */
	struct tp_latency_slow slow;
};

struct tp_latency_slowest {
	size_t nr;
	struct tp_latency_slot *slots;
	uint64_t least; /* ns of the least of them; 0 while one is free */
};

/* Keeps the pair, if it is one of the slowest. In probes. */
void tp_latency_slowest_add(struct tp_latency_slowest *slowest, const struct tp_latency_slow *slow);

/* Copies those that there are to room for nr of them, the slowest first. Returns how many. */
size_t tp_latency_slowest_copy(const struct tp_latency_slowest *slowest, struct tp_latency_slow *to);

/* ---- The sink ---- */

/* Counters of a group: how many pairs, their nanoseconds, and the buckets. */
enum { TP_LATENCY_COUNT, TP_LATENCY_SUM, TP_LATENCY_BUCKETS, TP_LATENCY_COUNTERS = TP_LATENCY_BUCKETS + TP_NR_BUCKETS };

/* Behind the key of a group. least is kept inverted, so that 0 is the beginning. */
struct tp_latency_extremes {
	uint64_t most, inverted_least;
};

struct tp_latency {
	struct tp_sink head;
	struct tp_latency_options options;
	struct tp_clock clock;
	double ns_of_tick;
	struct tp_latency_event **events; /* by their ids */
	struct tp_latency_event *all_events;
	bool by_of_begin;   /* the begins' fields say the group; else those of the ends */
	bool has_by_kinds;  /* the first event with such fields has decided which of them are texts */
	bool by_is_text[TP_LATENCY_FIELDS];
	struct tp_buffer misfit[TP_LATENCY_NR_ROLES]; /* why the first event that did not fit has not */
	struct tp_pairs pairs;
	struct tp_count_table groups; /* group 0 is of all that have no other */
	struct tp_latency_slowest slowest;
	struct tp_end_file file;
};

static inline uint64_t tp_latency_ns(const struct tp_latency *latency, uint64_t ticks)
{
	return (uint64_t)((double)ticks * latency->ns_of_tick);
}

/* ---- event.c ---- */

/* 0, -ENOMEM, or TP_NOT_FOR_SINK: it is neither, or lacks a field. */
int tp_latency_describe(struct tp_latency *latency, const struct tp_event *event);

/* Whether there is an event of this role; with_by: one that has the fields of the groups. */
bool tp_latency_has(const struct tp_latency *latency, enum tp_latency_role role, bool with_by);

/* Appends the values of the parts to a key. In probes. */
void tp_latency_key(struct tp_count_key *key, const struct tp_latency_part *parts, uint32_t nr, const struct tp_record *rec);

void tp_latency_events_free(struct tp_latency *latency);

#endif /* TP_LATENCY_H */
