/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/layout.c - what a table needs for a program's keys and variables, and whether those of two are alike.
 */
#include <string.h>

#include "sinks/hist/program.h"

static uint32_t block_words(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout)
{
	uint32_t words = 0;

	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		const struct tp_hist_action *action = &definition->actions[i];
		if (action->kind == TP_HIST_SNAPSHOT && !words)
			words = 1;
		for (uint32_t j = 0; action->kind == TP_HIST_SAVE && j < action->nr_params; j++)
			words += layout->saved[j] == TP_HIST_KEY_NUMBER ? 1 : TP_HIST_BLOB_WORDS;
	}
	return words;
}

struct tp_hist_shape tp_hist_shape_of(const struct tp_hist_definition *definition, const struct tp_hist_layout *layout)
{
	static const uint32_t words[] = {
		[TP_HIST_KEY_NUMBER] = TP_HIST_NUMBER_WORDS, [TP_HIST_KEY_TEXT] = TP_HIST_TEXT_WORDS,
		[TP_HIST_KEY_STACK] = TP_HIST_STACK_WORDS,
	};
	struct tp_hist_shape shape = {
		.nr_variables = definition->nr_variables, .nr_actions = definition->nr_actions,
		.block_words = block_words(definition, layout),
	};

	for (uint32_t i = 0; i < definition->nr_keys; i++)
		shape.key_words += words[layout->kinds[i]];
	memcpy(shape.variables, layout->variables, sizeof(shape.variables));
	return shape;
}

bool tp_hist_layout_same(const struct tp_hist_definition *definition, const struct tp_hist_layout *a,
			 const struct tp_hist_layout *b)
{
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (a->kinds[i] != b->kinds[i])
			return false;
	}
	return memcmp(a->variables, b->variables, sizeof(a->variables)) == 0 &&
	       memcmp(a->saved, b->saved, sizeof(a->saved)) == 0;
}

bool tp_hist_layout_same_keys(const struct tp_hist_definition *definition, const struct tp_hist_layout *a,
			      const struct tp_hist_layout *b)
{
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		if (a->kinds[i] != b->kinds[i] || a->key_signed[i] != b->key_signed[i] || a->key_bytes[i] != b->key_bytes[i])
			return false;
	}
	return true;
}
