/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/count.c - the way of a record: it is counted, and that is all that
 * becomes of it. Of an event without a counted field the record is not even made.
 */
#include "sinks/stats/stats.h"

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
	struct tp_stats_block *block = tp_stats_block_find(sink);

	if (!block)
		return;
	unsigned int bank = enter(sink, block);
	struct tp_stats_counter *counter = counter_of(block, plan);
	if (__builtin_expect(!counter, 0))
		counter = tp_stats_counter_new(sink, block, plan);
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
