/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/evaluate.c - the values of expressions, and what texts and stacks are.
 */
#include <string.h>

#include "record/stack.h"
#include "sinks/hist/program.h"

/* 0 and 1: 0. */
static uint64_t log2_up(uint64_t value)
{
	return value > 1 ? 64 - (uint64_t)__builtin_clzll(value - 1) : 0;
}

/* Without a sign, and by 0 the largest number, as in the kernel. */
static uint64_t divide(uint64_t value, uint64_t by)
{
	return by ? value / by : UINT64_MAX;
}

/* At most as deep as an expression, which has no more than three operators. */
uint64_t tp_hist_evaluate(const struct tp_hist_value *value, const struct tp_hist_context *context)
{
	switch (value->op) {
	case TP_HIST_OP_CONSTANT:
		return value->constant;
	case TP_HIST_OP_STAMP:
		return context->now;
	case TP_HIST_OP_LOG2:
		return log2_up(tp_hist_evaluate(value->left, context));
	case TP_HIST_OP_BUCKETS:
		return tp_hist_evaluate(value->left, context) / value->constant * value->constant;
	case TP_HIST_OP_KNOWN:
		return context->known[value->constant];
	case TP_HIST_OP_PLUS:
		return tp_hist_evaluate(value->left, context) + tp_hist_evaluate(value->right, context);
	case TP_HIST_OP_MINUS:
		return tp_hist_evaluate(value->left, context) - tp_hist_evaluate(value->right, context);
	case TP_HIST_OP_TIMES:
		return tp_hist_evaluate(value->left, context) * tp_hist_evaluate(value->right, context);
	case TP_HIST_OP_DIVIDED:
		return divide(tp_hist_evaluate(value->left, context), tp_hist_evaluate(value->right, context));
	case TP_HIST_OP_NEGATED:
		return -tp_hist_evaluate(value->left, context);
	default:
		return tp_value_number(&value->place, context->rec->entry);
	}
}

/* ---- Keys ---- */

static void add_addresses(struct tp_count_key *to, const char *from, size_t nr)
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

static void add_stack(struct tp_count_key *to, const struct tp_hist_source *key, const struct tp_record *rec)
{
	uintptr_t addresses[TP_RECORD_STACK_INNER + TP_HIST_STACK];

	if (key->own_stack) {
		add_addresses(to, (const char *)addresses, tp_stack_of_event(rec->event, addresses, TP_HIST_STACK));
		return;
	}
	const struct tp_value_bytes bytes = tp_value_payload(&key->value->place, rec->entry, rec->size);
	const size_t nr = bytes.at ? bytes.len / sizeof(long) : 0;
	add_addresses(to, bytes.at, nr < TP_HIST_STACK ? nr : TP_HIST_STACK);
}

void tp_hist_key_add(struct tp_count_key *to, const struct tp_hist_source *key, const struct tp_record *rec)
{
	if (key->kind != TP_HIST_KEY_TEXT) {
		add_stack(to, key, rec);
		return;
	}
	const struct tp_value_bytes text = tp_value_text(&key->value->place, rec->entry, rec->size);
	tp_count_key_add(to, text.at, text.len);
}

/* ---- Words of variables ---- */

static void fill_in_text(uint64_t *words, struct tp_value_bytes text)
{
	const size_t len = !text.at ? 0 : text.len < TP_COUNT_TEXT_BYTES ? text.len : TP_COUNT_TEXT_BYTES;

	memset(words, 0, TP_HIST_BLOB_WORDS * sizeof(*words));
	if (len)
		memcpy(words, text.at, len);
}

static void fill_in_stack(uint64_t *words, const struct tp_hist_source *source, const struct tp_record *rec)
{
	struct tp_count_key key = {.nr = 0};

	add_stack(&key, source, rec);
	memset(words, 0, TP_HIST_BLOB_WORDS * sizeof(*words));
	memcpy(words, key.words + 1, (key.nr - 1) * sizeof(*words));
}

uint64_t tp_hist_word(const struct tp_hist_source *source, const struct tp_hist_context *context, uint64_t **blobs)
{
	uint64_t *words = *blobs;

	if (source->kind == TP_HIST_KEY_NUMBER || (source->value && source->value->op == TP_HIST_OP_KNOWN))
		return tp_hist_evaluate(source->value, context);
	if (source->kind == TP_HIST_KEY_TEXT)
		fill_in_text(words, tp_value_text(&source->value->place, context->rec->entry, context->rec->size));
	else
		fill_in_stack(words, source, context->rec);
	*blobs += TP_HIST_BLOB_WORDS;
	return (uint64_t)(uintptr_t)words;
}
