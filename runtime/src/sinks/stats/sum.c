/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/sum.c - the counts of all threads: their memory and lock, taking them, and adding them up.
 */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/thread.h"
#include "sinks/stats/stats.h"

/* ---- The memory that counts are in, and the lock that guards them ---- */


#define CHUNK ((size_t)16 << 10)
#define ALIGN sizeof(uint64_t)

struct tp_stats_chunk {
	struct tp_stats_chunk *next;
	size_t size;
};

static struct tp_stats_chunk *chunk_new(struct tp_stats_arena *arena, size_t size)
{
	struct tp_stats_chunk *chunk =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (chunk == MAP_FAILED)
		return NULL;
	*chunk = (struct tp_stats_chunk){.next = arena->chunks, .size = size};
	arena->chunks = chunk;
	return chunk;
}

void *tp_stats_alloc(struct tp_stats_arena *arena, size_t size)
{
	struct tp_stats_chunk *chunk;

	size = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (size > CHUNK / 4) { /* mapped by itself, so that what is left of the chunk is not wasted */
		chunk = chunk_new(arena, size + sizeof(*chunk));
		return chunk ? chunk + 1 : NULL;
	}
	if (size > arena->left) {
		chunk = chunk_new(arena, CHUNK);
		if (!chunk)
			return NULL;
		arena->free = (char *)(chunk + 1);
		arena->left = CHUNK - sizeof(*chunk);
	}
	void *memory = arena->free;
	arena->free += size;
	arena->left -= size;
	return memory;
}

void tp_stats_arena_free(struct tp_stats_arena *arena)
{
	struct tp_stats_chunk *next;

	for (struct tp_stats_chunk *chunk = arena->chunks; chunk; chunk = next) {
		next = chunk->next;
		munmap(chunk, chunk->size);
	}
	*arena = (struct tp_stats_arena){.chunks = NULL};
}

/* ---- Hits and intervals, added up ---- */

static void base_add(struct tp_stats_base *total, const struct tp_stats_base *base)
{
	if (!total->hits || base->first < total->first)
		total->first = base->first;
	if (!total->hits || base->last > total->last)
		total->last = base->last;
	total->hits += base->hits;
	if (!base->intervals)
		return;
	if (!total->intervals || base->min < total->min)
		total->min = base->min;
	if (!total->intervals || base->max > total->max)
		total->max = base->max;
	total->intervals += base->intervals;
	total->sum += base->sum;
}

/*
 * Hits by thread: of those that run, of the last that have
 * exited, and of all others together.
 */

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
static void thread_add(struct tp_stats_sink *sink, struct tp_stats_thread *thread, struct tp_stats_counter *counter,
		       const struct tp_stats_base *base)
{
	if (!counter->by_thread) /* a handler's counter may have it, too */
		counter->by_thread = event_of(sink, thread, counter->plan);
	if (counter->by_thread)
		base_add(&counter->by_thread->base, base);
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
			base_add(&other->base, &event->base);
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

/* ---- Taking ---- */

void tp_stats_take_bank(struct tp_stats_sink *sink, struct tp_stats_block *block, unsigned int bank)
{
	struct tp_stats_counter *counter = __atomic_load_n(&block->counters, __ATOMIC_ACQUIRE);

	for (; counter; counter = counter->next) {
		const struct tp_stats_plan *plan = counter->plan;
		struct tp_stats_counts *counts = tp_stats_bank(counter, bank);
		if (!counts->base.hits)
			continue;
		base_add(&plan->total->base, &counts->base);
		for (uint32_t i = 0; i < plan->nr_fields; i++)
			tp_stats_field_add(&plan->fields[i], tp_stats_field_at(plan->total, &plan->fields[i], TP_STATS_TOTAL),
					   tp_stats_field_at(counts, &plan->fields[i], TP_STATS_OF_THREAD));
		if (block->thread)
			thread_add(sink, block->thread, counter, &counts->base);
		memset(counts, 0, plan->size[TP_STATS_OF_THREAD]);
		sink->changed = true;
	}
}

#define TRIES 20
#define PAUSE_NS 1000000

static void pause_shortly(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	tp_mutex_unlock(&tp_stats_lock);
	nanosleep(&time, NULL);
	tp_mutex_lock(&tp_stats_lock);
}

/* Barrier (F). A sandbox may have taken membarrier away: then threads see fenced long before the pause is over. */
static void synchronize_processors(struct tp_stats_sink *sink)
{
	if (!sink->fenced && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) {
		__atomic_store_n(&sink->fenced, true, __ATOMIC_RELAXED);
		pause_shortly(10 * PAUSE_NS);
	}
}

/* Those whose old bank is still waited for, from the last time, stay as they are. */
static void change_banks(struct tp_stats_sink *sink)
{
	for (struct tp_stats_block *block = sink->blocks; block; block = block->next) {
		if (!block->waiting)
			__atomic_exchange_n(&block->bank, !block->bank, __ATOMIC_SEQ_CST);
	}
	synchronize_processors(sink);
	for (struct tp_stats_block *block = sink->blocks; block; block = block->next) {
		if (!block->waiting)
			block->seen = __atomic_load_n(&block->sequence, __ATOMIC_SEQ_CST);
		block->waiting = true;
	}
}

/* False where some are in use: their thread has been preempted, or a handler is at work that came in between. */
static bool take_old_banks(struct tp_stats_sink *sink)
{
	bool all = true;

	for (struct tp_stats_block *block = sink->blocks; block; block = block->next) {
		if (!block->waiting)
			continue;
		uint64_t sequence = __atomic_load_n(&block->sequence, __ATOMIC_SEQ_CST); /* barrier (H) */
		if (sequence & 1 && sequence == block->seen) {
			all = false;
			continue;
		}
		tp_stats_take_bank(sink, block, !block->bank);
		block->waiting = false;
	}
	return all;
}

/* Nobody counts any more, not even those that never came to an end of it. */
static void take_all(struct tp_stats_sink *sink)
{
	for (struct tp_stats_block *block = sink->blocks; block; block = block->next) {
		for (unsigned int bank = 0; bank < 2; bank++)
			tp_stats_take_bank(sink, block, bank);
	}
}

void tp_stats_take(struct tp_stats_sink *sink, bool final)
{
	if (final) {
		take_all(sink);
	} else {
		take_old_banks(sink); /* that the last time was not waited for any longer */
		change_banks(sink);
		for (int i = 0; !take_old_banks(sink) && i < TRIES; i++)
			pause_shortly(PAUSE_NS);
	}
}
