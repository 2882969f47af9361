/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/act.c - a hit of a histogram that has variables or actions: variables of others are read, its own are set, and
 * the actions are done. As in the kernel, a hit for which a variable that it needs is not set does not count.
 */
#include "events/synthetic.h"
#include "sinks/hist/definition.h"
#include "sinks/hist/own.h"
#include "sinks/hist/program.h"
#include "sinks/hist/variable.h"

struct hit {
	struct tp_hist *hist;
	struct tp_hist_table *table;
	uint32_t number; /* of the entry */
	struct tp_count_entry *entry;
	const struct tp_hist_program *program;
	struct tp_hist_context context;
	uint64_t known[TP_HIST_KNOWN];
	uint64_t *blobs; /* where the next text or stack goes */
};

/* ---- Variables ---- */

static bool read_links(struct hit *hit, const struct tp_hist_links *links, const struct tp_count_key *key)
{
	for (uint32_t i = 0; i < links->nr; i++) {
		const struct tp_hist_link *link = &links->links[i];
		if (hit->program->unread >> i & 1)
			continue;
		const struct tp_hist_slot *slot = __atomic_load_n(&link->slot, __ATOMIC_ACQUIRE);
		const struct tp_hist_table *table = slot ? __atomic_load_n(&slot->map->table, __ATOMIC_ACQUIRE) : NULL;
		const uint32_t number = table ? tp_count_table_find(&table->entries, key) : TP_COUNT_NO_ENTRY;
		if (number == TP_COUNT_NO_ENTRY ||
		    !tp_hist_variable_read(table, tp_count_entry_at(&table->entries, number), slot->index, link->kind, link->once,
					   &hit->known[i], hit->blobs))
			return false;
		if (link->kind != TP_HIST_KEY_NUMBER)
			hit->blobs += TP_HIST_BLOB_WORDS;
	}
	return true;
}

static void set_variables(struct hit *hit)
{
	for (uint32_t i = 0; i < hit->program->nr_variables; i++) {
		const uint64_t word = tp_hist_word(&hit->program->variables[i], &hit->context, &hit->blobs);
		hit->known[TP_HIST_OWN + i] = word;
		tp_hist_variable_set(hit->table, hit->entry, i, word);
	}
}

/* ---- Actions ---- */

static void trace(struct hit *hit, const struct tp_hist_act *act)
{
	uint64_t words[TP_HIST_PARAMS], *blobs = hit->blobs;

	for (uint32_t i = 0; i < act->nr_params; i++)
		words[i] = tp_hist_word(&act->params[i], &hit->context, &blobs);
	tp_synthetic_hit(act->synthetic, words);
}

struct saving {
	struct hit *hit;
	const struct tp_hist_act *act;
};

static void save_fields(uint64_t *to, void *data)
{
	const struct saving *saving = data;

	for (uint32_t i = 0; i < saving->act->nr_params; i++) {
		uint64_t *blobs = saving->hit->blobs;
		const uint64_t word = tp_hist_word(&saving->act->params[i], &saving->hit->context, &blobs);
		const bool is_number = saving->act->params[i].kind == TP_HIST_KEY_NUMBER;
		tp_hist_words_store(to, is_number ? &word : (const uint64_t *)(uintptr_t)word, is_number ? 1 : TP_HIST_BLOB_WORDS);
		to += is_number ? 1 : TP_HIST_BLOB_WORDS;
	}
}

static void save_entry(uint64_t *to, void *data)
{
	const struct saving *saving = data;
	const uint64_t number = saving->hit->number;

	tp_hist_words_store(to, &number, 1);
}

/* Whether the value takes the older one's place; then it has. */
static bool track(const struct hit *hit, const struct tp_hist_act *act, uint32_t number, uint64_t value)
{
	uint64_t *tracked = (uint64_t *)((char *)hit->entry + hit->table->tracked) + number;
	uint64_t older = __atomic_load_n(tracked, __ATOMIC_RELAXED);

	while (tp_hist_exceeds(act->handler, older, value)) {
		if (__atomic_compare_exchange_n(tracked, &older, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void snapshot(struct hit *hit, const struct tp_hist_act *act, uint64_t value)
{
	struct saving saving = {hit, act};

	if (tp_hist_save(hit->table, &hit->table->snapshot, act->handler, value, save_entry, &saving) && hit->hist->snapshot)
		hit->hist->snapshot(hit->hist->snapshot_data);
}

static void do_action(struct hit *hit, const struct tp_hist_act *act, uint32_t number)
{
	struct saving saving = {hit, act};

	if (act->handler == TP_HIST_ONMATCH) {
		trace(hit, act);
		return;
	}
	const uint64_t value = hit->known[act->known];
	if (act->kind == TP_HIST_SAVE) {
		tp_hist_save(hit->table, tp_hist_saved_of(hit->table, hit->entry), act->handler, value, save_fields, &saving);
		return;
	}
	if (!track(hit, act, number, value))
		return;
	if (act->kind == TP_HIST_TRACE)
		trace(hit, act);
	else
		snapshot(hit, act, value);
}

/* ---- The hit ---- */

/* Most values are just that. */
static inline uint64_t number_of(const struct tp_hist_value *value, const struct tp_hist_context *context)
{
	if (__builtin_expect(value->op == TP_HIST_OP_FIELD && value->place.source == TP_SOURCE_NUMBER, 1))
		return tp_value_number_in(&value->place, context->rec->entry);
	return tp_hist_evaluate(value, context);
}

static inline __attribute__((always_inline)) void count(const struct tp_hist_table *table, uint32_t entry, const struct tp_hist_program *program,
			 const struct tp_hist_context *context)
{
	struct tp_counters *counters = table->entries.counters;
	uint64_t *row = tp_counters_row(counters);
	const size_t at = (size_t)entry * table->entries.nr_counters;

	tp_counters_add(counters, row, at, 1);
	for (uint32_t i = 0; i < program->nr_values; i++)
		tp_counters_add(counters, row, at + 1 + i, number_of(program->values[i], context));
}

static void count_and_act(struct hit *hit, const struct tp_count_key *key)
{
	const struct tp_hist_program *program = hit->program;

	if (!read_links(hit, program->links, key)) {
		__atomic_fetch_add(&hit->hist->unset, 1, __ATOMIC_RELAXED);
		return;
	}
	hit->number = tp_count_table_insert(&hit->table->entries, key);
	if (hit->number == TP_COUNT_NO_ENTRY)
		return;
	hit->entry = tp_count_entry_at(&hit->table->entries, hit->number);
	set_variables(hit);
	count(hit->table, hit->number, program, &hit->context);
	for (uint32_t i = 0; i < program->nr_acts; i++)
		do_action(hit, &program->acts_of[i], i);
}

/* As tp_hist_hit(), of a program that acts. Its frame is not the business of those that only count. */
static __attribute__((noinline)) void hit_and_act(struct tp_hist *hist, struct tp_hist_table *table, const struct tp_hist_program *program,
			const struct tp_count_key *key, const struct tp_hist_context *context)
{
	struct hit hit = {.hist = hist, .table = table, .program = program, .context = *context};
	void *blobs = NULL;

	hit.context.known = hit.known;
	if (program->nr_blobs) {
		blobs = tp_scratch_push(program->nr_blobs * TP_HIST_BLOB_WORDS * sizeof(uint64_t));
		if (!blobs) {
			tp_sink_count_lost(&hist->head, TP_LOST_NESTED);
			return;
		}
		hit.blobs = blobs;
	}
	count_and_act(&hit, key);
	if (blobs)
		tp_scratch_pop(blobs);
}

/*
 * The way of a record: its keys are put together, their entry is found, and its values are added. In
 * the thread that hits, and its signal handlers: no lock, no allocation; no system call but for a thread's name.
 */

void tp_hist_hit(struct tp_hist *hist, struct tp_hist_table *table, const struct tp_hist_program *program,
		 const struct tp_record *rec, uint64_t now)
{
	const struct tp_hist_context context = {.rec = rec, .now = now};
	struct tp_count_key key;

	key.nr = 0;
	for (uint32_t i = 0; i < program->nr_keys; i++) {
		const struct tp_hist_source *source = &program->keys[i];
		if (__builtin_expect(source->kind == TP_HIST_KEY_NUMBER, 1))
			key.words[key.nr++] = number_of(source->value, &context);
		else
			tp_hist_key_add(&key, source, rec);
	}
	if (__builtin_expect(program->acts, 0)) {
		hit_and_act(hist, table, program, &key, &context);
		return;
	}
	const uint32_t entry = tp_count_table_insert(&table->entries, &key);
	if (__builtin_expect(entry != TP_COUNT_NO_ENTRY, 1))
		count(table, entry, program, &context);
}
