/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/sum.c - taking what the threads have counted, and adding it up.
 */
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sinks/stats/stats.h"

void tp_stats_take_bank(struct tp_stats_sink *sink, struct tp_stats_block *block, unsigned int bank)
{
	struct tp_stats_counter *counter = __atomic_load_n(&block->counters, __ATOMIC_ACQUIRE);

	for (; counter; counter = counter->next) {
		const struct tp_stats_plan *plan = counter->plan;
		struct tp_stats_counts *counts = tp_stats_bank(counter, bank);
		if (!counts->base.hits)
			continue;
		tp_stats_base_add(&plan->total->base, &counts->base);
		for (uint32_t i = 0; i < plan->nr_fields; i++)
			tp_stats_field_add(&plan->fields[i], tp_stats_field_at(plan->total, &plan->fields[i], TP_STATS_TOTAL),
					   tp_stats_field_at(counts, &plan->fields[i], TP_STATS_OF_THREAD));
		if (block->thread)
			tp_stats_thread_add(sink, block->thread, counter, &counts->base);
		memset(counts, 0, plan->size[TP_STATS_OF_THREAD]);
		sink->changed = true;
	}
}

/* ---- Taking ---- */

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
