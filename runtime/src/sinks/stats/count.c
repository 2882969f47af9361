/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/count.c - the way of a record: it is counted, and that is all that
 * becomes of it. Of an event without a counted field the record is not even made.
 */
#include <errno.h>
#include <string.h>

#include "base/guard.h"
#include "base/thread.h"
#include "sinks/stats/stats.h"

/* ---- The threads' blocks of counters: from a thread's first hit to its exit, and across forks ---- */

TP_THREAD_LOCAL struct tp_stats_slot tp_stats_slots[TP_STATS_SINKS];

/* Under tp_stats_lock. */
static struct tp_stats_sink *sink_of_slot[TP_STATS_SINKS];
static uint64_t last_generation;

/* ---- Counters ---- */

/* The thread is counting in the block, so that a handler does not look for the counter, too. NULL: no memory. */
static struct tp_stats_counter *counter_new(struct tp_stats_sink *sink, struct tp_stats_block *block,
					    const struct tp_stats_plan *plan)
{
	struct tp_stats_counter **page = block->pages[plan->id / TP_STATS_IDS_A_PAGE];
	struct tp_stats_counter *counter = NULL;
	struct tp_guard guard;

	if (!tp_guard_enter(&guard)) {
		tp_sink_count_lost(&sink->head, TP_LOST_NESTED);
		return NULL;
	}
	if (!page)
		page = tp_stats_alloc(&block->arena, TP_STATS_IDS_A_PAGE * sizeof(struct tp_stats_counter *));
	block->pages[plan->id / TP_STATS_IDS_A_PAGE] = page;
	if (page)
		counter = tp_stats_alloc(&block->arena, sizeof(*counter) + 2 * (size_t)plan->size[TP_STATS_OF_THREAD]);
	if (counter) {
		counter->plan = plan;
		counter->next = block->counters;
		page[plan->id % TP_STATS_IDS_A_PAGE] = counter;
		/* For who takes counts, to whom the counter is whole. */
		__atomic_store_n(&block->counters, counter, __ATOMIC_RELEASE);
	} else {
		tp_sink_count_lost(&sink->head, TP_LOST_OTHER);
	}
	tp_guard_leave(&guard);
	return counter;
}

/* ---- Blocks; under tp_stats_lock ---- */

static struct tp_stats_block *block_new(struct tp_stats_sink *sink, unsigned int depth)
{
	struct tp_stats_arena arena = {.chunks = NULL};
	struct tp_stats_block *block = tp_stats_alloc(&arena, sizeof(*block));

	if (!block)
		return NULL;
	block->arena = arena; /* the block is in it, too */
	block->depth = depth;
	block->next = sink->blocks;
	sink->blocks = block;
	return block;
}

static struct tp_stats_block *block_take(struct tp_stats_sink *sink)
{
	struct tp_stats_block *block = sink->pool;

	if (!block)
		block = block_new(sink, 0);
	else
		sink->pool = block->next_free;
	if (!block || !sink->options.by_thread)
		return block;
	struct tp_stats_thread *thread = tp_stats_thread_new(sink);
	for (struct tp_stats_block *of = block; of; of = of->nested)
		of->thread = thread;
	return block;
}

static void block_clear(struct tp_stats_sink *sink, struct tp_stats_block *block)
{
	for (unsigned int bank = 0; bank < 2; bank++)
		tp_stats_take_bank(sink, block, bank);
	block->waiting = false;
	block->thread = NULL;
	for (struct tp_stats_counter *counter = block->counters; counter; counter = counter->next) {
		counter->previous = 0;
		counter->by_thread = NULL;
	}
}

/* The thread goes, or is gone. A count that it was interrupted in is never ended. */
static void block_settle(struct tp_stats_sink *sink, struct tp_stats_block *block)
{
	block_clear(sink, block);
	block->sequence += block->sequence & 1;
}

static void block_give(struct tp_stats_sink *sink, struct tp_stats_block *block)
{
	block->next_free = sink->pool;
	sink->pool = block;
}

/* ---- The blocks of a thread: a handler may have got what is looked for, up to where the guard is entered ---- */

static void slot_leave(unsigned int i)
{
	struct tp_stats_slot *slot = &tp_stats_slots[i];
	struct tp_stats_sink *sink = sink_of_slot[i];
	bool current = sink && slot->key == sink->generation;
	struct tp_stats_block *own = slot->block;

	slot->key = 0;
	tp_barrier(); /* before anybody else may have the block */
	if (!current)
		return;
	struct tp_stats_thread *thread = own->thread;
	if (thread)
		tp_stats_thread_take_name(thread);
	for (struct tp_stats_block *block = own; block; block = block->nested)
		block_settle(sink, block);
	if (thread)
		tp_stats_thread_end(sink, thread);
	block_give(sink, own);
}

/* A later destructor that hits a tracepoint takes a block anew. */
static void leave_thread(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard))
		return;
	tp_mutex_lock(&tp_stats_lock);
	for (unsigned int i = 0; i < TP_STATS_SINKS; i++) {
		if (tp_stats_slots[i].key)
			slot_leave(i);
	}
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
}

static struct tp_stats_block *acquire(struct tp_stats_sink *sink, enum tp_lost *cause)
{
	struct tp_stats_slot *slot = &tp_stats_slots[sink->slot];
	struct tp_guard guard;

	*cause = TP_LOST_NESTED;
	if (!tp_guard_enter_slow_way(&guard))
		return NULL;
	struct tp_stats_block *block = slot->key == sink->generation ? slot->block : NULL;
	*cause = TP_LOST_OTHER;
	if (!block && tp_thread_arm(leave_thread)) {
		tp_mutex_lock(&tp_stats_lock);
		block = block_take(sink);
		tp_mutex_unlock(&tp_stats_lock);
	}
	if (block) {
		slot->block = block;
		tp_barrier(); /* key says that the block is there */
		slot->key = sink->generation;
	}
	tp_guard_leave(&guard);
	return block;
}

static struct tp_stats_block *nest(struct tp_stats_sink *sink, struct tp_stats_block *outer, enum tp_lost *cause)
{
	struct tp_guard guard;

	*cause = TP_LOST_NESTED;
	if (outer->depth + 1 == TP_STATS_DEPTH || !tp_guard_enter_slow_way(&guard))
		return NULL;
	*cause = TP_LOST_OTHER;
	tp_mutex_lock(&tp_stats_lock);
	if (!outer->nested)
		outer->nested = block_new(sink, outer->depth + 1);
	struct tp_stats_block *block = outer->nested;
	if (block)
		block->thread = outer->thread;
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
	return block;
}

/* The thread has none, or is counting in its own. */
static TP_COLD struct tp_stats_block *find_slowly(struct tp_stats_sink *sink, struct tp_stats_block *block)
{
	enum tp_lost cause = TP_LOST_NESTED;

	if (!block)
		block = acquire(sink, &cause);
	while (block && block->sequence & 1)
		block = block->nested ? block->nested : nest(sink, block, &cause);
	if (!block)
		tp_sink_count_lost(&sink->head, cause);
	return block;
}

/* The block that this thread counts in now. NULL: there is none, and the record was counted as lost. */
static struct tp_stats_block *block_find(struct tp_stats_sink *sink)
{
	const struct tp_stats_slot *slot = &tp_stats_slots[sink->slot];
	struct tp_stats_block *block = slot->key == sink->generation ? slot->block : NULL;

	if (__builtin_expect(block && !(block->sequence & 1), 1))
		return block;
	return find_slowly(sink, block);
}

/* ---- From a sink's opening to its closing ---- */

static int take_slot(struct tp_stats_sink *sink)
{
	uint32_t slot = TP_STATS_SINKS;

	for (uint32_t i = 0; i < TP_STATS_SINKS; i++) {
		if (!sink_of_slot[i])
			slot = i;
		else if (sink->opened_path && sink_of_slot[i]->opened_path &&
			 strcmp(sink_of_slot[i]->opened_path, sink->opened_path) == 0)
			return EBUSY;
	}
	if (slot == TP_STATS_SINKS)
		return EMFILE;
	sink_of_slot[slot] = sink;
	sink->slot = slot;
	sink->generation = ++last_generation;
	return 0;
}

int tp_stats_blocks_begin(struct tp_stats_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_stats_lock);
	int error = take_slot(sink);
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
	return error;
}

void tp_stats_blocks_end(struct tp_stats_sink *sink)
{
	struct tp_guard guard;

	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_stats_lock);
	sink_of_slot[sink->slot] = NULL;
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
}

void tp_stats_blocks_free(struct tp_stats_sink *sink)
{
	struct tp_stats_block *next;

	for (struct tp_stats_block *block = sink->blocks; block; block = next) {
		struct tp_stats_arena arena = block->arena;
		next = block->next;
		tp_stats_arena_free(&arena);
	}
	tp_stats_arena_free(&sink->arena);
}

struct tp_stats_sink *tp_stats_sink_of_slot(uint32_t slot)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard)) /* a crash handler forks */
		return NULL;
	tp_mutex_lock(&tp_stats_lock);
	struct tp_stats_sink *sink = sink_of_slot[slot];
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
	return sink;
}

/* ---- Forks ---- */

static bool is_nested_in(const struct tp_stats_block *outer, const struct tp_stats_block *block)
{
	while (outer && outer != block)
		outer = outer->nested;
	return outer != NULL;
}

/*
 * A handler that forks may have interrupted a count, which the child
 * still completes: then the thread's block stays out of use.
 */
void tp_stats_blocks_forget(struct tp_stats_sink *sink)
{
	const struct tp_stats_slot *slot = &tp_stats_slots[sink->slot];
	const struct tp_stats_block *own = slot->key == sink->generation ? slot->block : NULL;
	const struct tp_stats_block *busy = own && own->sequence & 1 ? own : NULL;

	sink->pool = NULL;
	for (struct tp_stats_block *block = sink->blocks; block; block = block->next) {
		if (is_nested_in(busy, block)) {
			block_clear(sink, block);
			continue;
		}
		block_settle(sink, block);
		if (block->depth == 0)
			block_give(sink, block);
	}
	sink->generation = ++last_generation;
}

/* ---- The way of a record ---- */

/* From here on handlers count elsewhere, and nobody takes what is counted in the bank. */
static inline unsigned int enter(struct tp_stats_sink *sink, struct tp_stats_block *block)
{
	const uint64_t sequence = block->sequence + 1;

	/* Barrier (E). */
	if (__builtin_expect(__atomic_load_n(&sink->fenced, __ATOMIC_RELAXED), 0))
		__atomic_exchange_n(&block->sequence, sequence, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&block->sequence, sequence, __ATOMIC_RELAXED);
	tp_barrier();
	return __atomic_load_n(&block->bank, __ATOMIC_SEQ_CST); /* as cheap as an acquire */
}

static inline void leave(struct tp_stats_block *block)
{
	tp_barrier();
	__atomic_store_n(&block->sequence, block->sequence + 1, __ATOMIC_RELEASE); /* barrier (G) */
}

static inline void count_base(struct tp_stats_base *base, struct tp_stats_counter *counter, uint64_t now)
{
	const uint64_t previous = counter->previous;

	if (now < previous) /* the counter may be read a bit early */
		now = previous;
	counter->previous = now;
	base->last = now;
	if (!base->hits++)
		base->first = now;
	if (!previous)
		return;
	const uint64_t interval = now - previous;
	base->sum += interval;
	if (!base->intervals++) {
		base->min = base->max = interval;
		return;
	}
	if (interval < base->min)
		base->min = interval;
	if (interval > base->max)
		base->max = interval;
}

static struct tp_stats_counter *counter_of(const struct tp_stats_block *block, const struct tp_stats_plan *plan)
{
	struct tp_stats_counter *const *page = block->pages[plan->id / TP_STATS_IDS_A_PAGE];

	return page ? page[plan->id % TP_STATS_IDS_A_PAGE] : NULL;
}

static void count(struct tp_stats_sink *sink, const struct tp_stats_plan *plan, const struct tp_record *rec)
{
	struct tp_stats_block *block = block_find(sink);

	if (!block)
		return;
	unsigned int bank = enter(sink, block);
	struct tp_stats_counter *counter = counter_of(block, plan);
	if (__builtin_expect(!counter, 0))
		counter = counter_new(sink, block, plan);
	if (counter) {
		struct tp_stats_counts *counts = tp_stats_bank(counter, bank);
		count_base(&counts->base, counter, tp_clock_now(&sink->clock));
		for (uint32_t i = 0; i < plan->nr_fields; i++) {
			const struct tp_stats_field *field = &plan->fields[i];
			tp_stats_field_count(field, tp_stats_field_at(counts, field, TP_STATS_OF_THREAD), rec->entry, rec->size);
		}
	}
	leave(block);
}

static const struct tp_stats_plan *plan_of(const struct tp_record *rec)
{
	const struct tp_stats_sink *sink = (const struct tp_stats_sink *)rec->sink;

	return __atomic_load_n(&sink->plans[rec->event->id], __ATOMIC_ACQUIRE);
}

bool tp_stats_reserve(struct tp_record *rec)
{
	const struct tp_stats_plan *plan = plan_of(rec);

	if (!plan) { /* a writer that was registered by hand, of an event that came meanwhile */
		tp_sink_count_lost(rec->sink, TP_LOST_OTHER);
		return false;
	}
	if (!plan->nr_fields) {
		count((struct tp_stats_sink *)rec->sink, plan, rec);
		return false;
	}
	return tp_reserve_scratch(rec);
}

void tp_stats_commit(struct tp_record *rec)
{
	count((struct tp_stats_sink *)rec->sink, plan_of(rec), rec);
	tp_scratch_pop(rec->entry);
}
