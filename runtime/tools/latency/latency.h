/* SPDX-License-Identifier: MIT */
/*
 * latency.h - how long it took from one event to another, as "tp latency" shows it: of processes, or of recorded traces.
 *
 *	latency_view.c    what several processes report, as one
 *	  report.c        what one has reported
 *	of_traces.c       of recorded traces
 *	text.c, json.c    for people, and for programs
 *	  groups.c        groups, and their percentiles
 */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/json.h"
#include "client/lines.h"
#include "client/view.h"
#include "count/buckets.h"

struct latency_group {
	char *name;      /* its values, as people read them: "10.0.0.1, GET"; "": there are no groups, or it is of none */
	char *values;    /* as JSON: [{"value": 1, "name": "GET"}] */
	uint64_t count, sum, least, most; /* pairs; nanoseconds */
	uint64_t *buckets; /* TP_NR_BUCKETS of them */
};

struct latency_pair {
	uint64_t ns;
	char *begin, *end; /* lines, as the text output has them */
};

/* Zeros are none. */
struct latency {
	char *begin, *end, *key, *by; /* what is measured; fields have ", " between them */
	struct latency_group *groups;
	size_t nr_groups;
	struct latency_pair *slowest; /* the slowest first */
	size_t nr_slowest;
	uint64_t waiting, oldest_ns;  /* begins without an end so far, and how long the oldest waits */
	uint64_t forgotten;           /* begins that were never answered, and that there was no more room for */
	uint64_t unmatched;           /* ends without a begin */
	uint64_t lost;                /* records */
};

void latency_free(struct latency *latency);

/* ---- groups.c ---- */

/* The group of these values; a new one, if there is none yet. NULL, and a message: no memory. */
struct latency_group *latency_group(struct latency *latency, const char *name, const char *values);

/* Adds a pair to it. */
void latency_group_add(struct latency_group *group, uint64_t ns);

/* Adds all of one group to the other. */
void latency_group_merge(struct latency_group *to, const struct latency_group *from);

/* The time that this part of the pairs (0 to 1) took at most; the middle of a bucket. */
uint64_t latency_percentile(const struct latency_group *group, double part);

/* Keeps the pair, if it is one of the slowest, so many of which are wanted; the lines are taken over or freed. */
void latency_keep(struct latency *latency, size_t wanted, struct latency_pair pair);

/* The groups with most pairs first; those without any go. */
void latency_sort(struct latency *latency);

/* ---- report.c ---- */

/* Adds what a process has reported. False: it is no latency, or there is no memory; after a message. */
bool latency_add_report(struct latency *latency, const struct json *report, size_t slowest);

/* ---- text.c, json.c ---- */

/* Add lines. False: no memory, after a message. */
bool latency_put_text(const struct latency *latency, const struct area *area);
bool latency_put_json(const struct latency *latency, struct lines *to);

/* ---- latency_view.c ---- */

struct latency_view {
	size_t slowest; /* pairs to show */
	bool json;
};

struct view latency_view_of(struct latency_view *view);

#endif /* LATENCY_H */
