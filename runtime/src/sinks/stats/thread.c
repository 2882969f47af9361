/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/thread.c - hits by thread: of those that run, of the last that have
 * exited, and of all others together.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread.h"
#include "sinks/stats/stats.h"

void tp_stats_thread_take_name(struct tp_stats_thread *thread)
{
	syscall(SYS_prctl, PR_GET_NAME, thread->name, 0, 0, 0); /* the program may have replaced prctl */
}

void tp_stats_thread_read_name(struct tp_stats_thread *thread)
{
	char path[64], name[TP_STATS_NAME_SIZE + 1];

	if (thread->tid == tp_thread_id()) {
		tp_stats_thread_take_name(thread);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)thread->tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t len = read(fd, name, sizeof(name) - 1);
	close(fd);
	if (len <= 0)
		return;
	name[len - 1] = '\0'; /* a newline */
	memcpy(thread->name, name, TP_STATS_NAME_SIZE);
}

struct tp_stats_thread *tp_stats_thread_new(struct tp_stats_sink *sink)
{
	struct tp_stats_thread *thread = sink->unused_threads;

	if (thread)
		sink->unused_threads = thread->next;
	else
		thread = tp_stats_alloc(&sink->arena, sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct tp_stats_thread){.tid = tp_thread_id()};
	tp_stats_thread_take_name(thread);
	*sink->threads_end = thread;
	sink->threads_end = &thread->next;
	return thread;
}

static struct tp_stats_thread_event *event_new(struct tp_stats_sink *sink, struct tp_stats_thread *thread,
					    const struct tp_stats_plan *plan)
{
	struct tp_stats_thread_event *event = sink->unused_events;

	if (event)
		sink->unused_events = event->next;
	else
		event = tp_stats_alloc(&sink->arena, sizeof(*event));
	if (!event)
		return NULL;
	*event = (struct tp_stats_thread_event){.next = thread->events, .plan = plan};
	thread->events = event;
	return event;
}

static struct tp_stats_thread_event *event_of(struct tp_stats_sink *sink, struct tp_stats_thread *thread,
					   const struct tp_stats_plan *plan)
{
	for (struct tp_stats_thread_event *event = thread->events; event; event = event->next) {
		if (event->plan == plan)
			return event;
	}
	return event_new(sink, thread, plan);
}

/* Without memory the event's threads don't add up to its total. */
void tp_stats_thread_add(struct tp_stats_sink *sink, struct tp_stats_thread *thread, struct tp_stats_counter *counter,
			 const struct tp_stats_base *base)
{
	if (!counter->by_thread) /* a handler's counter may have it, too */
		counter->by_thread = event_of(sink, thread, counter->plan);
	if (counter->by_thread)
		tp_stats_base_add(&counter->by_thread->base, base);
}

static void drop_events(struct tp_stats_sink *sink, struct tp_stats_thread *thread)
{
	while (thread->events) {
		struct tp_stats_thread_event *event = thread->events;
		thread->events = event->next;
		event->next = sink->unused_events;
		sink->unused_events = event;
	}
}

static void drop(struct tp_stats_sink *sink, struct tp_stats_thread **at)
{
	struct tp_stats_thread *thread = *at;

	drop_events(sink, thread);
	*at = thread->next;
	if (!*at)
		sink->threads_end = at;
	thread->next = sink->unused_threads;
	sink->unused_threads = thread;
}

static void add_to_others(struct tp_stats_sink *sink, const struct tp_stats_thread *thread)
{
	for (const struct tp_stats_thread_event *event = thread->events; event; event = event->next) {
		struct tp_stats_thread_event *other = event_of(sink, &sink->others, event->plan);
		if (other)
			tp_stats_base_add(&other->base, &event->base);
	}
}

void tp_stats_thread_end(struct tp_stats_sink *sink, struct tp_stats_thread *thread)
{
	struct tp_stats_thread **at = &sink->threads;

	thread->exited = true;
	if (++sink->nr_exited <= TP_STATS_EXITED)
		return;
	sink->nr_exited--;
	while (!(*at)->exited)
		at = &(*at)->next;
	add_to_others(sink, *at);
	drop(sink, at);
}

void tp_stats_threads_forget(struct tp_stats_sink *sink)
{
	while (sink->threads)
		drop(sink, &sink->threads);
	drop_events(sink, &sink->others);
	sink->nr_exited = 0;
}
