/* SPDX-License-Identifier: MIT */
/*
 * stats_thread.c - hits by thread: of those that run, of the last that have
 * exited, and of all others together.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stats.h"

void tp_stats_thread_take_name(struct stats_thread *thread)
{
	syscall(SYS_prctl, PR_GET_NAME, thread->name, 0, 0, 0); /* the program may have replaced prctl */
}

void tp_stats_thread_read_name(struct stats_thread *thread)
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

struct stats_thread *tp_stats_thread_new(struct stats_sink *sink)
{
	struct stats_thread *thread = sink->unused_threads;

	if (thread)
		sink->unused_threads = thread->next;
	else
		thread = tp_stats_alloc(&sink->arena, sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct stats_thread){.tid = tp_thread_id()};
	tp_stats_thread_take_name(thread);
	*sink->threads_end = thread;
	sink->threads_end = &thread->next;
	return thread;
}

static struct stats_thread_event *event_new(struct stats_sink *sink, struct stats_thread *thread,
					    const struct stats_plan *plan)
{
	struct stats_thread_event *event = sink->unused_events;

	if (event)
		sink->unused_events = event->next;
	else
		event = tp_stats_alloc(&sink->arena, sizeof(*event));
	if (!event)
		return NULL;
	*event = (struct stats_thread_event){.next = thread->events, .plan = plan};
	thread->events = event;
	return event;
}

static struct stats_thread_event *event_of(struct stats_sink *sink, struct stats_thread *thread,
					   const struct stats_plan *plan)
{
	for (struct stats_thread_event *event = thread->events; event; event = event->next) {
		if (event->plan == plan)
			return event;
	}
	return event_new(sink, thread, plan);
}

/* Without memory the event's threads don't add up to its total. */
void tp_stats_thread_add(struct stats_sink *sink, struct stats_thread *thread, struct stats_counter *counter,
			 const struct stats_base *base)
{
	if (!counter->by_thread) /* a handler's counter may have it, too */
		counter->by_thread = event_of(sink, thread, counter->plan);
	if (counter->by_thread)
		tp_stats_base_add(&counter->by_thread->base, base);
}

static void drop_events(struct stats_sink *sink, struct stats_thread *thread)
{
	while (thread->events) {
		struct stats_thread_event *event = thread->events;
		thread->events = event->next;
		event->next = sink->unused_events;
		sink->unused_events = event;
	}
}

static void drop(struct stats_sink *sink, struct stats_thread **at)
{
	struct stats_thread *thread = *at;

	drop_events(sink, thread);
	*at = thread->next;
	if (!*at)
		sink->threads_end = at;
	thread->next = sink->unused_threads;
	sink->unused_threads = thread;
}

static void add_to_others(struct stats_sink *sink, const struct stats_thread *thread)
{
	for (const struct stats_thread_event *event = thread->events; event; event = event->next) {
		struct stats_thread_event *other = event_of(sink, &sink->others, event->plan);
		if (other)
			tp_stats_base_add(&other->base, &event->base);
	}
}

void tp_stats_thread_end(struct stats_sink *sink, struct stats_thread *thread)
{
	struct stats_thread **at = &sink->threads;

	thread->exited = true;
	if (++sink->nr_exited <= TP_STATS_EXITED)
		return;
	sink->nr_exited--;
	while (!(*at)->exited)
		at = &(*at)->next;
	add_to_others(sink, *at);
	drop(sink, at);
}

void tp_stats_threads_forget(struct stats_sink *sink)
{
	while (sink->threads)
		drop(sink, &sink->threads);
	drop_events(sink, &sink->others);
	sink->nr_exited = 0;
}
