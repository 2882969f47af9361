/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/hit.c - the way of a record: its keys are put together, their entry is found, and its values are added. In
 * the thread that hits, and its signal handlers: no lock, no allocation; no system call but for a thread's name.
 */
#include "sinks/hist/program.h"

/* Most values are just that. */
static inline uint64_t number(const struct tp_hist_value *value, const struct tp_hist_context *context)
{
	if (__builtin_expect(value->op == TP_HIST_OP_FIELD && value->place.source == TP_SOURCE_NUMBER, 1))
		return tp_value_number_in(&value->place, context->rec->entry);
	return tp_hist_evaluate(value, context);
}

void tp_hist_hit(struct tp_hist *hist, struct tp_hist_table *table, const struct tp_hist_program *program,
		 const struct tp_record *rec, uint64_t now)
{
	const struct tp_hist_context context = {.rec = rec, .now = now};
	struct tp_hist_key key;

	key.nr = 0;
	for (uint32_t i = 0; i < program->nr_keys; i++) {
		const struct tp_hist_source *source = &program->keys[i];
		if (__builtin_expect(source->kind == TP_HIST_KEY_NUMBER, 1))
			key.words[key.nr++] = number(source->value, &context);
		else
			tp_hist_key_add(&key, source, rec);
	}
	if (__builtin_expect(program->acts, 0)) {
		tp_hist_hit_and_act(hist, table, program, &key, &context);
		return;
	}
	struct tp_hist_entry *entry = tp_hist_table_insert(table, &key, program->with_comm);
	if (__builtin_expect(!entry, 0))
		return;
	__atomic_fetch_add(&entry->hits, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < program->nr_values; i++)
		__atomic_fetch_add(&entry->sums[i], number(program->values[i], &context), __ATOMIC_RELAXED);
}
