/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/hit.c - the way of a record: its keys are put together, their entry is found, and its values are added. In
 * the thread that hits, and its signal handlers: no lock, no allocation; no system call but for a thread's name.
 */
#include <string.h>

#include "record/stack.h"
#include "sinks/hist/program.h"

/* 0 and 1: 0. */
static uint64_t log2_up(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

static uint64_t evaluate(const struct tp_hist_value *value, const struct tp_record *rec, uint64_t now)
{
	switch (value->op) {
	case TP_HIST_OP_CONSTANT:
		return value->constant;
	case TP_HIST_OP_STAMP:
		return now;
	case TP_HIST_OP_LOG2:
		return log2_up(evaluate(value->left, rec, now));
	case TP_HIST_OP_BUCKETS:
		return evaluate(value->left, rec, now) / value->constant * value->constant;
	default:
		return tp_value_number(&value->place, rec->entry);
	}
}

/* Most values are just that. */
static inline uint64_t number(const struct tp_hist_value *value, const struct tp_record *rec, uint64_t now)
{
	if (__builtin_expect(value->op == TP_HIST_OP_FIELD && value->place.source == TP_SOURCE_NUMBER, 1))
		return tp_value_number_in(&value->place, rec->entry);
	return evaluate(value, rec, now);
}

/* ---- Keys ---- */

static void add_text(struct tp_hist_key *to, struct tp_value_bytes text)
{
	const size_t len = !text.at ? 0 : text.len < TP_HIST_TEXT_BYTES ? text.len : TP_HIST_TEXT_BYTES;
	uint64_t *words = &to->words[to->nr];

	words[0] = len;
	if (len) {
		words[(len + 7) / 8] = 0;
		memcpy(words + 1, text.at, len);
	}
	to->nr += 1 + (uint32_t)(len + 7) / 8;
}

static void add_addresses(struct tp_hist_key *to, const char *from, size_t nr)
{
	uint64_t *words = &to->words[to->nr];

	words[0] = nr;
	for (size_t i = 0; i < nr; i++) {
		unsigned long address;
		memcpy(&address, from + i * sizeof(address), sizeof(address));
		words[1 + i] = address;
	}
	to->nr += 1 + (uint32_t)nr;
}

static void add_stack(struct tp_hist_key *to, const struct tp_hist_key_source *key, const struct tp_record *rec)
{
	uintptr_t addresses[TP_HIST_STACK];

	if (key->own_stack) {
		add_addresses(to, (const char *)addresses, tp_record_stack(rec, addresses, TP_HIST_STACK));
		return;
	}
	const struct tp_value_bytes bytes = tp_value_payload(&key->value->place, rec->entry, rec->size);
	const size_t nr = bytes.at ? bytes.len / sizeof(long) : 0;
	add_addresses(to, bytes.at, nr < TP_HIST_STACK ? nr : TP_HIST_STACK);
}

static __attribute__((noinline)) void add_bytes(struct tp_hist_key *to, const struct tp_hist_key_source *key, const struct tp_record *rec)
{
	if (key->kind == TP_HIST_KEY_TEXT)
		add_text(to, tp_value_text(&key->value->place, rec->entry, rec->size));
	else
		add_stack(to, key, rec);
}

void tp_hist_hit(struct tp_hist_table *table, const struct tp_hist_program *program, const struct tp_record *rec, uint64_t now)
{
	struct tp_hist_key key;

	key.nr = 0;
	for (uint32_t i = 0; i < program->nr_keys; i++) {
		const struct tp_hist_key_source *source = &program->keys[i];
		if (__builtin_expect(source->kind == TP_HIST_KEY_NUMBER, 1))
			key.words[key.nr++] = number(source->value, rec, now);
		else
			add_bytes(&key, source, rec);
	}
	struct tp_hist_entry *entry = tp_hist_table_insert(table, &key, program->with_comm);
	if (__builtin_expect(!entry, 0))
		return;
	__atomic_fetch_add(&entry->hits, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < program->nr_values; i++)
		__atomic_fetch_add(&entry->sums[i], number(program->values[i], rec, now), __ATOMIC_RELAXED);
}
