/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/report.c - hits and intervals, as they are now. Under tp_stats_lock, threads' shares are copied only: what writes
 * the report is slow, and calls what the program may have replaced and traced (malloc, open).
 */
#include <stdlib.h>
#include <string.h>

#include "base/locks.h"
#include "sinks/stats/stats.h"

#define NS_PER_S 1000000000u

/* ---- Under tp_stats_lock ---- */

/* An event has a row for those that are not told apart, besides the shares. */
static size_t room_for(const struct tp_stats_sink *sink)
{
	return sink->nr_shares + sink->nr_plans;
}

static void copy_shares(struct tp_stats_report *report, const struct tp_stats_thread *thread)
{
	for (const struct tp_stats_share *share = thread->shares; share; share = share->next) {
		struct tp_stats_row *row = &report->rows[report->nr_rows++];
		*row = (struct tp_stats_row){
			.plan = share->plan, .tid = thread->tid, .exited = thread->exited,
			.base = share->row ? tp_stats_base_in(share->row, share->plan) : share->base,
		};
		memcpy(row->name, thread->name, sizeof(row->name));
	}
}

static void copy_others(struct tp_stats_report *report, struct tp_stats_plan *plan)
{
	const struct tp_stats_base shared = tp_stats_base_in(plan->counters->shared, plan);
	struct tp_stats_row *row = &report->rows[report->nr_rows++];

	*row = (struct tp_stats_row){.plan = plan, .others = true, .base = plan->gone};
	tp_stats_base_add(&row->base, &shared);
}

/* Threads come and go while there is too little memory, and the lock is given back. */
static bool copy_rows(struct tp_stats_report *report, struct tp_stats_sink *sink)
{
	for (size_t room; (room = room_for(sink)) > report->room;) {
		tp_mutex_unlock(&tp_stats_lock);
		free(report->rows);
		report->room = room + room / 4;
		report->rows = tp_malloc(report->room * sizeof(*report->rows));
		tp_mutex_lock(&tp_stats_lock);
		if (!report->rows)
			return false;
	}
	for (const struct tp_stats_thread *thread = sink->threads; thread; thread = thread->next)
		copy_shares(report, thread);
	for (struct tp_stats_plan *plan = sink->all_plans; plan; plan = plan->next)
		copy_others(report, plan);
	return true;
}

/* ---- Events ---- */

static int compare_events(const void *a, const void *b)
{
	const struct tp_stats_event *one = a, *two = b;
	const uint64_t hits = one->base.hits, others = two->base.hits;

	return hits == others ? strcmp(one->plan->name, two->plan->name) : hits < others ? 1 : -1;
}

/* The event of a row, which is a new one at the event's first. */
static struct tp_stats_event *event_of(struct tp_stats_report *report, struct tp_stats_plan *plan)
{
	if (!plan->event) {
		plan->event = &report->events[report->nr_events++];
		*plan->event = (struct tp_stats_event){.plan = plan};
		plan->event->rows_end = &plan->event->rows;
	}
	return plan->event;
}

static bool make_events(struct tp_stats_report *report)
{
	report->events = tp_malloc(report->room * sizeof(*report->events) + 1);
	if (!report->events)
		return false;
	for (size_t i = 0; i < report->nr_rows; i++) {
		struct tp_stats_row *row = &report->rows[i];
		if (!row->base.hits)
			continue;
		struct tp_stats_event *event = event_of(report, row->plan);
		tp_stats_base_add(&event->base, &row->base);
		*event->rows_end = row;
		event->rows_end = &row->next;
		report->hits += row->base.hits;
	}
	for (size_t i = 0; i < report->nr_rows; i++)
		report->rows[i].plan->event = NULL;
	qsort(report->events, report->nr_events, sizeof(*report->events), compare_events);
	return true;
}

/* The rows of a thread are one behind the other. */
static void find_names(struct tp_stats_report *report)
{
	for (size_t i = 0; i < report->nr_rows; i++) {
		struct tp_stats_row *row = &report->rows[i];
		if (row->others || row->exited)
			continue;
		if (i && row[-1].tid == row->tid && !row[-1].exited)
			memcpy(row->name, row[-1].name, sizeof(row->name));
		else
			tp_stats_thread_name(row->tid, row->name);
	}
}

/* ---- All of it ---- */

static void take_times(struct tp_stats_report *report, struct tp_stats_sink *sink)
{
	const uint64_t now = tp_clock_now(&sink->clock);

	tp_clock_refine(&sink->refined);
	report->begin_ns = tp_clock_to_ns(&sink->refined, sink->begin);
	report->now_ns = tp_clock_to_ns(&sink->refined, now);
	report->seconds = (double)tp_stats_ns(&sink->refined, now - sink->begin) / NS_PER_S;
}

bool tp_stats_report_take(struct tp_stats_report *report, struct tp_stats_sink *sink, bool final)
{
	*report = (struct tp_stats_report){.sink = sink, .final = final};
	tp_mutex_lock(&tp_stats_lock);
	const bool copied = copy_rows(report, sink);
	tp_mutex_unlock(&tp_stats_lock);
	if (!copied || !make_events(report))
		return false;
	take_times(report, sink);
	if (sink->options.by_thread)
		find_names(report);
	return true;
}

void tp_stats_report_free(struct tp_stats_report *report)
{
	free(report->rows);
	free(report->events);
}
