/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/tracked.c - what onmax() and onchange() have compared with, and what save() has saved, of an entry. A copy has
 * a word for each action; then, if the table has blocks, whether there is one, its value and its words.
 */
#include "base/text.h"
#include "print/symbol.h"
#include "sinks/hist/definition.h"
#include "sinks/hist/report.h"
#include "sinks/hist/variable.h"

typedef unsigned long long number;

uint32_t tp_hist_tracked_words(const struct tp_hist_table *table)
{
	return table->shape.nr_actions + (table->shape.block_words ? 2 + table->shape.block_words : 0);
}

void tp_hist_tracked_copy(uint64_t *to, const struct tp_hist_table *table, const struct tp_count_entry *entry)
{
	const struct tp_hist_shape *shape = &table->shape;

	tp_hist_words_load(to, (const uint64_t *)((const char *)entry + table->tracked), shape->nr_actions);
	to += shape->nr_actions;
	if (shape->block_words)
		to[0] = tp_hist_saved_copy(table, tp_hist_saved_of(table, (struct tp_count_entry *)entry), &to[1], &to[2]);
}

/* The block's copy in that of a row, or NULL: nothing was saved. */
static const uint64_t *block_of(const struct tp_hist_row *row)
{
	const uint64_t *block = row->tracked + row->report->hist->definition->nr_actions;

	return block[0] ? block : NULL;
}

static uint64_t value_of(const struct tp_hist_row *row, uint32_t action)
{
	const bool saves = row->report->hist->definition->actions[action].kind == TP_HIST_SAVE;
	const uint64_t *block = saves ? block_of(row) : NULL;

	return block ? block[1] : saves ? 0 : row->tracked[action];
}

static const char *handler_name(const struct tp_hist_action *action)
{
	return action->handler == TP_HIST_ONMAX ? "max" : "changed";
}

/* ---- As text ---- */

static void put_addresses(struct tp_buffer *to, const uint64_t *words)
{
	struct tp_symbol symbol;

	for (uint32_t i = 0; i < TP_HIST_STACK && words[i]; i++) {
		if (tp_symbol_find((uintptr_t)words[i] - 1, &symbol))
			tp_buffer_printf(to, " => %s+0x%lx", symbol.name, (unsigned long)(words[i] - symbol.address));
		else
			tp_buffer_printf(to, " => 0x%llx", (number)words[i]);
	}
}

static void put_text(struct tp_buffer *to, const char *text)
{
	const size_t len = strlen(text);

	tp_buffer_put_plain(to, text, len);
	if (len < 32)
		tp_buffer_printf(to, "%*s", (int)(32 - len), "");
}

static void put_saved_text(struct tp_buffer *to, const struct tp_hist_row *row, const struct tp_hist_action *action)
{
	const struct tp_hist_definition *definition = row->report->hist->definition;
	const uint64_t *block = block_of(row), *word = block ? block + 2 : NULL;

	for (uint32_t i = 0; block && i < action->nr_params; i++) {
		const enum tp_hist_kind kind = row->report->layout->saved[i];
		tp_buffer_printf(to, "  %.*s: ", (int)action->params[i].len, tp_hist_text_at(definition, action->params[i]));
		if (kind == TP_HIST_KEY_TEXT)
			put_text(to, (const char *)word);
		else if (kind == TP_HIST_KEY_STACK)
			put_addresses(to, word);
		else
			tp_buffer_printf(to, "%10llu", (number)*word);
		word += kind == TP_HIST_KEY_NUMBER ? 1 : TP_HIST_BLOB_WORDS;
	}
}

/* As in the kernel, what is saved stands behind each value. */
void tp_hist_tracked_put_text(struct tp_buffer *to, const struct tp_hist_row *row)
{
	const struct tp_hist_definition *definition = row->report->hist->definition;
	const struct tp_hist_action *saves = tp_hist_saving(definition);

	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		const struct tp_hist_action *action = &definition->actions[i];
		if (action->handler == TP_HIST_ONMATCH || action->kind == TP_HIST_SNAPSHOT)
			continue;
		tp_buffer_printf(to, "\n\t%s: %10llu", handler_name(action), (number)value_of(row, i));
		if (saves)
			put_saved_text(to, row, saves);
	}
}

/* ---- As JSON ---- */

/* As a JSON string: a variable may have any name. */
static void put_name_json(struct tp_buffer *to, const struct tp_hist_definition *definition, struct tp_hist_span name)
{
	struct tp_buffer text = {.text = NULL};

	tp_buffer_printf(&text, "%.*s", (int)name.len, tp_hist_text_at(definition, name));
	to->failed = to->failed || text.failed;
	tp_json_string(to, text.failed ? "" : text.text);
	tp_buffer_free(&text);
}

static void put_saved_json(struct tp_buffer *to, const struct tp_hist_row *row, const struct tp_hist_action *action)
{
	const struct tp_hist_definition *definition = row->report->hist->definition;
	const uint64_t *block = block_of(row), *word = block ? block + 2 : NULL;

	for (uint32_t i = 0; block && i < action->nr_params; i++) {
		const enum tp_hist_kind kind = row->report->layout->saved[i];
		tp_buffer_printf(to, i ? ", " : ", \"saved\": {");
		put_name_json(to, definition, action->params[i]);
		tp_buffer_printf(to, ": ");
		if (kind == TP_HIST_KEY_TEXT) {
			tp_json_string(to, (const char *)word);
		} else if (kind == TP_HIST_KEY_STACK) {
			for (uint32_t j = 0; j < TP_HIST_STACK && word[j]; j++)
				tp_buffer_printf(to, "%s%llu", j ? ", " : "[", (number)word[j]);
			tp_buffer_printf(to, word[0] ? "]" : "[]");
		} else {
			tp_buffer_printf(to, "%llu", (number)*word);
		}
		word += kind == TP_HIST_KEY_NUMBER ? 1 : TP_HIST_BLOB_WORDS;
	}
	tp_buffer_printf(to, block && action->nr_params ? "}" : "");
}

void tp_hist_tracked_put_json(struct tp_buffer *to, const struct tp_hist_row *row)
{
	const struct tp_hist_definition *definition = row->report->hist->definition;
	bool any = false;

	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		const struct tp_hist_action *action = &definition->actions[i];
		if (action->handler == TP_HIST_ONMATCH)
			continue;
		tp_buffer_printf(to, "%s{\"%s\": %llu, \"variable\": ", any ? ", " : ", \"tracked\": [", handler_name(action),
				 (number)value_of(row, i));
		put_name_json(to, definition, (struct tp_hist_span){action->variable.at + 1, action->variable.len - 1});
		if (action->kind == TP_HIST_SAVE)
			put_saved_json(to, row, action);
		tp_buffer_printf(to, "}");
		any = true;
	}
	tp_buffer_printf(to, any ? "]" : "");
}
