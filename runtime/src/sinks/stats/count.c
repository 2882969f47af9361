/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/count.c - the way of a record: it is counted, and that is all that
 * becomes of it. Of an event without a counted field the record is not even made.
 */
#include "base/guard.h"
#include "base/locks.h"
#include "base/scratch.h"
#include "sinks/stats/stats.h"

/* In the row of those that have none: whose hit was the one before is not known. */
static void count_shared(const struct tp_stats_plan *plan, uint64_t now)
{
	const struct tp_counters *counters = plan->counters;
	uint64_t none = 0;

	tp_counters_replace(counters, counters->shared, plan->at + TP_STATS_FIRST, &none, now);
	tp_counters_raise(counters, counters->shared, plan->at + TP_STATS_LAST, now);
	tp_counters_add(counters, counters->shared, plan->at + TP_STATS_HITS, 1);
}

/* The thread has not hit the event yet, but a handler that has come in between may have. True: the hit was counted. */
static TP_COLD bool count_first(struct tp_stats_sink *sink, struct tp_stats_plan *plan, uint64_t *row, uint64_t now)
{
	struct tp_guard guard;
	bool counted = false, begun = false;

	if (row != plan->counters->shared && tp_guard_enter_slow_way(&guard)) {
		tp_mutex_lock(&tp_stats_lock);
		begun = __atomic_load_n(&row[plan->at + TP_STATS_LAST], __ATOMIC_RELAXED) != 0;
		counted = !begun && tp_stats_share_begin(sink, plan, row, now);
		tp_mutex_unlock(&tp_stats_lock);
		tp_guard_leave(&guard);
	}
	if (!counted && !begun)
		count_shared(plan, now);
	return !begun;
}

/* A handler's hit in the middle of this is behind the thread's last hit, or behind this one. */
static inline void count_hit(struct tp_stats_sink *sink, struct tp_stats_plan *plan, uint64_t *row, uint64_t now)
{
	const struct tp_counters *counters = plan->counters;
	uint64_t last = __atomic_load_n(&row[plan->at + TP_STATS_LAST], __ATOMIC_RELAXED);

	do {
		while (__builtin_expect(!last || row == counters->shared, 0)) {
			if (count_first(sink, plan, row, now))
				return;
			last = __atomic_load_n(&row[plan->at + TP_STATS_LAST], __ATOMIC_RELAXED);
		}
		if (now < last) /* the counter may be read a bit early */
			now = last;
	} while (__builtin_expect(!tp_counters_replace(counters, row, plan->at + TP_STATS_LAST, &last, now), 0));
	tp_counters_raise(counters, row, plan->at + TP_STATS_SHORTEST, ~(now - last));
	tp_counters_raise(counters, row, plan->at + TP_STATS_LONGEST, now - last);
	tp_counters_add(counters, row, plan->at + TP_STATS_HITS, 1);
}

/* The hit itself comes last: whoever sees that there are more of them sees their values, too. */
static void count(struct tp_stats_sink *sink, struct tp_stats_plan *plan, const struct tp_record *rec)
{
	uint64_t *row = tp_counters_row(plan->counters);

	for (uint32_t i = 0; i < plan->nr_fields; i++)
		tp_stats_field_count(&plan->fields[i], plan->counters, row, rec->entry, rec->size);
	count_hit(sink, plan, row, tp_clock_now(&sink->clock));
}

static struct tp_stats_plan *plan_of(const struct tp_record *rec)
{
	const struct tp_stats_sink *sink = (const struct tp_stats_sink *)rec->sink;

	return __atomic_load_n(&sink->plans[rec->event->id], __ATOMIC_ACQUIRE);
}

bool tp_stats_reserve(struct tp_record *rec)
{
	struct tp_stats_plan *plan = plan_of(rec);

	if (!plan) { /* a writer that was registered by hand, of an event that came meanwhile */
		tp_sink_count_lost(rec->sink, TP_LOST_OTHER);
		return false;
	}
	if (!plan->nr_fields) {
		count((struct tp_stats_sink *)rec->sink, plan, rec);
		return false;
	}
	rec->entry = tp_scratch_push_short(rec->size);
	return rec->entry || tp_reserve_scratch(rec);
}

void tp_stats_commit(struct tp_record *rec)
{
	count((struct tp_stats_sink *)rec->sink, plan_of(rec), rec);
	tp_scratch_pop_short(rec->entry);
}
