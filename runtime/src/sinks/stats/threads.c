/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/threads.c - which threads have hit which events; those that have exited, of which the last are told apart with
 * by=thread, and none without.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/locks.h"
#include "base/thread.h"
#include "sinks/stats/stats.h"

struct tp_stats_sink *tp_stats_sinks;

/* ---- Memory: not malloc's, which a handler may have interrupted ---- */

#define BLOCK ((size_t)16 << 10)

struct tp_stats_block {
	struct tp_stats_block *next;
};

static void *allocate(struct tp_stats_sink *sink, size_t size)
{
	if (sink->left < size) {
		struct tp_stats_block *block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (block == MAP_FAILED)
			return NULL;
		block->next = sink->blocks;
		sink->blocks = block;
		sink->left = BLOCK - sizeof(*block);
	}
	sink->left -= size;
	return (char *)sink->blocks + BLOCK - sink->left - size;
}

void tp_stats_threads_free(struct tp_stats_sink *sink)
{
	struct tp_stats_block *next;

	for (struct tp_stats_block *block = sink->blocks; block; block = next) {
		next = block->next;
		munmap(block, BLOCK);
	}
}

/* ---- Names ---- */

static void own_name(char name[TP_STATS_NAME_SIZE])
{
	syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0); /* the program may have replaced prctl */
}

void tp_stats_thread_name(int32_t tid, char name[TP_STATS_NAME_SIZE])
{
	char path[64], found[TP_STATS_NAME_SIZE + 1];

	if (tid == tp_thread_id()) {
		own_name(name);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t len = read(fd, found, sizeof(found) - 1);
	close(fd);
	if (len <= 0)
		return;
	found[len - 1] = '\0'; /* a newline */
	memcpy(name, found, TP_STATS_NAME_SIZE);
}

/* ---- Shares ---- */

void tp_stats_base_add(struct tp_stats_base *total, const struct tp_stats_base *base)
{
	if (!base->hits)
		return;
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

static uint64_t load(const uint64_t *row, const struct tp_stats_plan *plan, size_t place)
{
	return __atomic_load_n(&row[plan->at + place], __ATOMIC_RELAXED);
}

/* Between the first and the last of n hits are n - 1 intervals. */
struct tp_stats_base tp_stats_base_in(const uint64_t *row, const struct tp_stats_plan *plan)
{
	struct tp_stats_base base = {.hits = load(row, plan, TP_STATS_HITS), .first = load(row, plan, TP_STATS_FIRST),
				     .last = load(row, plan, TP_STATS_LAST)};

	if (base.hits < 2 || row == plan->counters->shared)
		return base;
	base.intervals = base.hits - 1;
	base.sum = base.last - base.first;
	base.min = ~load(row, plan, TP_STATS_SHORTEST);
	base.max = load(row, plan, TP_STATS_LONGEST);
	return base;
}

static struct tp_stats_thread *thread_new(struct tp_stats_sink *sink)
{
	struct tp_stats_thread *thread = sink->unused_threads;

	if (thread)
		sink->unused_threads = thread->next;
	else
		thread = allocate(sink, sizeof(*thread));
	if (!thread)
		return NULL;
	*thread = (struct tp_stats_thread){.tid = tp_thread_id()};
	if (sink->options.by_thread)
		own_name(thread->name);
	*sink->threads_end = thread;
	sink->threads_end = &thread->next;
	sink->running[tp_counter_thread] = thread;
	return thread;
}

static bool share_new(struct tp_stats_sink *sink, struct tp_stats_thread *thread, struct tp_stats_plan *plan, uint64_t *row)
{
	struct tp_stats_share *share = sink->unused_shares;

	if (share)
		sink->unused_shares = share->next;
	else
		share = allocate(sink, sizeof(*share));
	if (!share)
		return false;
	*share = (struct tp_stats_share){.next = thread->shares, .plan = plan, .row = row};
	thread->shares = share;
	sink->nr_shares++;
	return true;
}

/*
 * What is in the row is nobody's: of the thread that had it before, or of a hit that a fork has interrupted. The last hit
 * comes last, by which handlers of SIGSEGV and the like see that the row is theirs.
 */
static void row_begin(uint64_t *row, const struct tp_stats_plan *plan, uint64_t hits, uint64_t now)
{
	const uint64_t numbers[] = {[TP_STATS_HITS] = hits, [TP_STATS_FIRST] = now, [TP_STATS_LAST] = now};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		__atomic_store_n(&row[plan->at + i], numbers[i], __ATOMIC_RELEASE);
}

/* ---- Exits ---- */

static void drop(struct tp_stats_sink *sink, struct tp_stats_thread **at)
{
	struct tp_stats_thread *thread = *at;

	while (thread->shares) {
		struct tp_stats_share *share = thread->shares;
		tp_stats_base_add(&share->plan->gone, &share->base);
		thread->shares = share->next;
		share->next = sink->unused_shares;
		sink->unused_shares = share;
		sink->nr_shares--;
	}
	*at = thread->next;
	if (!*at)
		sink->threads_end = at;
	thread->next = sink->unused_threads;
	sink->unused_threads = thread;
}

static void drop_oldest(struct tp_stats_sink *sink)
{
	struct tp_stats_thread **at = &sink->threads;

	while (!(*at)->exited)
		at = &(*at)->next;
	drop(sink, at);
}

static void leave_sink(struct tp_stats_sink *sink)
{
	struct tp_stats_thread *thread = sink->running[tp_counter_thread];

	if (!thread)
		return;
	sink->running[tp_counter_thread] = NULL;
	for (struct tp_stats_share *share = thread->shares; share; share = share->next) {
		share->base = tp_stats_base_in(share->row, share->plan);
		row_begin(share->row, share->plan, 0, 0);
		share->row = NULL;
	}
	thread->exited = true;
	if (sink->options.by_thread)
		own_name(thread->name); /* most are given one only after their first hit */
	if (sink->nr_exited < (sink->options.by_thread ? TP_STATS_EXITED : 0))
		sink->nr_exited++;
	else
		drop_oldest(sink);
}

/* Before its number, and so its row, is given to another thread. */
static void leave(void)
{
	tp_mutex_lock(&tp_stats_lock);
	for (struct tp_stats_sink *sink = tp_stats_sinks; sink; sink = sink->next)
		leave_sink(sink);
	tp_mutex_unlock(&tp_stats_lock);
}

bool tp_stats_share_begin(struct tp_stats_sink *sink, struct tp_stats_plan *plan, uint64_t *row, uint64_t now)
{
	struct tp_stats_thread *thread = sink->running[tp_counter_thread];

	if (!thread)
		thread = thread_new(sink);
	if (!thread || !share_new(sink, thread, plan, row))
		return false;
	row_begin(row, plan, 1, now);
	return true;
}

void tp_stats_threads_forget(struct tp_stats_sink *sink)
{
	while (sink->threads)
		drop(sink, &sink->threads);
	memset(sink->running, 0, sizeof(sink->running));
	sink->nr_exited = 0;
}

/* ---- All sinks ---- */

static struct tp_counter_hook hook = {.leave = leave};

static bool have_one_file(const struct tp_stats_sink *a, const struct tp_stats_sink *b)
{
	return a->opened_path && b->opened_path && strcmp(a->opened_path, b->opened_path) == 0;
}

int tp_stats_sinks_add(struct tp_stats_sink *sink)
{
	struct tp_stats_sink *other;
	struct tp_guard guard;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_stats_lock);
	tp_counters_hook(&hook);
	for (other = tp_stats_sinks; other && !have_one_file(other, sink);)
		other = other->next;
	if (!other) {
		sink->next = tp_stats_sinks;
		tp_stats_sinks = sink;
	}
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
	return other ? EBUSY : 0;
}

void tp_stats_sinks_remove(struct tp_stats_sink *sink)
{
	struct tp_stats_sink **at = &tp_stats_sinks;
	struct tp_guard guard;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_stats_lock);
	while (*at != sink)
		at = &(*at)->next;
	*at = sink->next;
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
}
