/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/snapshot.c - a copy of what a report shows. What writes the report is
 * slow, and calls what the program may have replaced and traced (malloc, open):
 * it must not do so with tp_stats_lock held.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sinks/stats/stats.h"

#define NS_PER_S 1000000000u

/* ---- Under tp_stats_lock: nothing but memcpy ---- */

static size_t size_of_threads(const struct tp_stats_thread *thread)
{
	size_t size = 0;

	for (; thread; thread = thread->next) {
		size += sizeof(*thread);
		for (const struct tp_stats_thread_event *event = thread->events; event; event = event->next)
			size += sizeof(*event);
	}
	return size;
}

static size_t size_of(const struct tp_stats_sink *sink)
{
	size_t size = size_of_threads(sink->threads) + size_of_threads(&sink->others);

	for (const struct tp_stats_plan *plan = sink->all_plans; plan; plan = plan->next) {
		if (plan->total->base.hits)
			size += sizeof(struct tp_stats_event) + plan->size[TP_STATS_TOTAL];
	}
	return size;
}

static void *put(struct tp_stats_report *report, const void *from, size_t size)
{
	void *copy = (char *)report->memory + report->used;

	memcpy(copy, from, size);
	report->used += size;
	return copy;
}

static void copy_events(struct tp_stats_report *report, const struct tp_stats_sink *sink)
{
	report->events = report->memory;
	for (const struct tp_stats_plan *plan = sink->all_plans; plan; plan = plan->next) {
		const struct tp_stats_event event = {.plan = plan, .total = plan->total};
		if (!plan->total->base.hits)
			continue;
		put(report, &event, sizeof(event));
		report->nr_events++;
	}
	for (size_t i = 0; i < report->nr_events; i++) {
		struct tp_stats_event *event = &report->events[i];
		event->total = put(report, event->total, event->plan->size[TP_STATS_TOTAL]);
	}
}

/* The last of each list leads nowhere, and so does its copy. */
static struct tp_stats_thread *copy_threads(struct tp_stats_report *report, const struct tp_stats_thread *thread)
{
	struct tp_stats_thread *first = NULL, **at = &first;

	for (; thread; thread = thread->next) {
		*at = put(report, thread, sizeof(*thread));
		struct tp_stats_thread_event **to = &(*at)->events;
		for (; *to; to = &(*to)->next)
			*to = put(report, *to, sizeof(**to));
		at = &(*at)->next;
	}
	return first;
}

/* ---- Taking it ---- */

static bool map(struct tp_stats_report *report, size_t size)
{
	tp_stats_report_free(report);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	report->memory = memory;
	report->size = size;
	return true;
}

/* Under tp_stats_lock, which it gives back while there is too little memory: threads come and go meanwhile. */
static void copy(struct tp_stats_report *report, struct tp_stats_sink *sink)
{
	bool mapped = true;
	size_t size;

	while ((size = size_of(sink)) > report->size && mapped) {
		tp_mutex_unlock(&tp_stats_lock);
		mapped = map(report, size + size / 4);
		tp_mutex_lock(&tp_stats_lock);
	}
	if (!mapped)
		return;
	copy_events(report, sink);
	report->threads = copy_threads(report, sink->threads);
	report->others = copy_threads(report, &sink->others);
	sink->changed = false;
}

static int compare_events(const void *a, const void *b)
{
	const struct tp_stats_event *one = a, *two = b;
	const uint64_t hits = one->total->base.hits, others = two->total->base.hits;

	return hits == others ? strcmp(one->plan->name, two->plan->name) : hits < others ? 1 : -1;
}

static void complete(struct tp_stats_report *report, struct tp_stats_sink *sink)
{
	const uint64_t now = tp_clock_now(&sink->clock);

	tp_clock_refine(&sink->refined);
	report->begin_ns = tp_clock_to_ns(&sink->refined, sink->begin);
	report->now_ns = tp_clock_to_ns(&sink->refined, now);
	report->seconds = (double)tp_stats_ns(&sink->refined, now - sink->begin) / NS_PER_S;
	qsort(report->events, report->nr_events, sizeof(*report->events), compare_events);
	for (struct tp_stats_thread *thread = report->threads; thread; thread = thread->next) {
		if (!thread->exited)
			tp_stats_thread_read_name(thread);
	}
}

bool tp_stats_report_take(struct tp_stats_report *report, struct tp_stats_sink *sink, bool always, bool final)
{
	*report = (struct tp_stats_report){.sink = sink, .final = final};
	tp_mutex_lock(&tp_stats_lock);
	tp_stats_take(sink, final);
	bool wanted = sink->changed || always;
	if (wanted)
		copy(report, sink);
	tp_mutex_unlock(&tp_stats_lock);
	if (report->memory)
		complete(report, sink);
	return wanted;
}

void tp_stats_report_free(struct tp_stats_report *report)
{
	if (report->memory)
		munmap(report->memory, report->size);
	report->memory = NULL;
	report->size = 0;
}
