/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/definition.c - see definition.h: what stands in a definition, and whether two are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "sinks/hist/definition.h"

bool tp_hist_span_is(const struct tp_hist_definition *definition, struct tp_hist_span span, const char *text)
{
	return strlen(text) == span.len && memcmp(definition->text + span.at, text, span.len) == 0;
}

bool tp_hist_span_same(const struct tp_hist_definition *a, struct tp_hist_span in_a, const struct tp_hist_definition *b,
		       struct tp_hist_span in_b)
{
	return in_a.len == in_b.len && memcmp(a->text + in_a.at, b->text + in_b.at, in_a.len) == 0;
}

void tp_hist_definition_free(struct tp_hist_definition *definition)
{
	if (!definition)
		return;
	free(definition->text);
	free(definition->nodes);
	free(definition->params);
	free(definition);
}

/* ---- Whether two are the same ---- */

static bool items_same(const struct tp_hist_definition *a, const struct tp_hist_item *in_a, uint32_t nr_a,
		       const struct tp_hist_definition *b, const struct tp_hist_item *in_b, uint32_t nr_b)
{
	for (uint32_t i = 0; i < nr_a && nr_a == nr_b; i++) {
		if (!tp_hist_span_same(a, in_a[i].span, b, in_b[i].span) ||
		    !tp_hist_span_same(a, in_a[i].variable, b, in_b[i].variable))
			return false;
	}
	return nr_a == nr_b;
}

static bool sort_same(const struct tp_hist_definition *a, const struct tp_hist_definition *b)
{
	/* Without any it is by the hitcount. */
	for (uint32_t i = 0; i < TP_HIST_SORT_KEYS; i++) {
		const bool by_hits_a = i == 0 && (!a->nr_sort || tp_hist_span_is(a, a->sort[0].name, "hitcount"));
		const bool by_hits_b = i == 0 && (!b->nr_sort || tp_hist_span_is(b, b->sort[0].name, "hitcount"));
		if (a->sort[i].descending != b->sort[i].descending || by_hits_a != by_hits_b)
			return false;
		if (!by_hits_a && !tp_hist_span_same(a, a->sort[i].name, b, b->sort[i].name))
			return false;
	}
	return true;
}

static bool actions_same(const struct tp_hist_definition *a, const struct tp_hist_definition *b)
{
	for (uint32_t i = 0; i < a->nr_actions && a->nr_actions == b->nr_actions; i++) {
		if (!tp_hist_span_same(a, a->actions[i].span, b, b->actions[i].span))
			return false;
	}
	return a->nr_actions == b->nr_actions;
}

bool tp_hist_definition_same(const struct tp_hist_definition *a, const struct tp_hist_definition *b)
{
	return tp_hist_span_same(a, a->name, b, b->name) &&
	       items_same(a, a->keys, a->nr_keys, b, b->keys, b->nr_keys) &&
	       items_same(a, a->values, a->nr_values, b, b->values, b->nr_values) &&
	       items_same(a, a->variables, a->nr_variables, b, b->variables, b->nr_variables) &&
	       sort_same(a, b) && actions_same(a, b);
}

uint32_t tp_hist_definition_params(const struct tp_hist_definition *definition)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < definition->nr_actions; i++)
		nr += definition->actions[i].nr_params;
	return nr;
}

const struct tp_hist_action *tp_hist_saving(const struct tp_hist_definition *definition)
{
	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		if (definition->actions[i].kind == TP_HIST_SAVE)
			return &definition->actions[i];
	}
	return NULL;
}

#define SHOWN 200

void tp_hist_put_short(struct tp_buffer *to, const struct tp_hist_definition *definition)
{
	const size_t len = strlen(definition->text);

	tp_buffer_printf(to, "hist:");
	tp_buffer_put_plain(to, definition->text, len < SHOWN ? len : SHOWN);
	tp_buffer_printf(to, "%s", len > SHOWN ? "..." : "");
}
