/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/report.c - a histogram's entries are copied and sorted, while threads go on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "sinks/hist/report.h"
#include "sinks/hist/variable.h"

/* ---- Copying ---- */

static struct tp_count_entry *copy(struct tp_hist_report *report, uint32_t row, const struct tp_count_entry *from)
{
	struct tp_count_entry *to = (struct tp_count_entry *)(report->entries + (size_t)row * report->stride);

	to->nr_words = from->nr_words;
	memcpy(to->comm, from->comm, sizeof(to->comm));
	memcpy(to->words, from->words, from->nr_words * sizeof(to->words[0]));
	return to;
}

static void copy_sums(struct tp_hist_report *report, struct tp_hist_row *row, uint32_t number)
{
	const struct tp_count_table *entries = &report->hist->map->table->entries;

	row->hits = tp_count_sum(entries, number, 0);
	report->hits += row->hits;
	for (uint32_t i = 0; i + 1 < entries->nr_counters; i++) {
		row->sums[i] = tp_count_sum(entries, number, 1 + i);
		report->total[i] += row->sums[i];
		if (report->max[i] < row->sums[i])
			report->max[i] = row->sums[i];
	}
}

static void copy_entry(uint32_t number, void *data)
{
	struct tp_hist_report *report = data;
	const struct tp_hist_table *table = report->hist->map->table;
	const struct tp_count_entry *from = tp_count_entry_at(&table->entries, number);

	if (report->nr_rows == report->room) /* there was room for all that were there; this one has come meanwhile */
		return;
	const struct tp_count_entry *to = copy(report, report->nr_rows, from);
	uint64_t *tracked = report->tracked + (size_t)report->nr_rows * tp_hist_tracked_words(table);
	tp_hist_tracked_copy(tracked, table, from);
	report->rows[report->nr_rows] = (struct tp_hist_row){.report = report, .entry = to, .tracked = tracked};
	copy_sums(report, &report->rows[report->nr_rows++], number);
}

/* Behind the others. */
static bool copy_snapshot(struct tp_hist_report *report, const struct tp_hist_table *table)
{
	uint64_t *words = tp_malloc(table->shape.block_words * sizeof(*words) + 1);

	if (words && tp_hist_saved_copy(table, &table->snapshot, &report->snapshot_value, words))
		report->snapshot = copy(report, report->room, tp_count_entry_at(&table->entries, (uint32_t)words[0]));
	free(words);
	return words != NULL;
}

static bool copy_entries(struct tp_hist_report *report, const struct tp_hist_table *table)
{
	report->stride = table->entries.stride;
	report->room = tp_count_table_used(&table->entries);
	report->entries = tp_malloc(((size_t)report->room + 1) * report->stride);
	report->rows = tp_malloc(report->room * sizeof(*report->rows) + 1);
	report->tracked = tp_malloc((size_t)report->room * tp_hist_tracked_words(table) * sizeof(*report->tracked) + 1);
	if (!report->entries || !report->rows || !report->tracked)
		return false;
	tp_count_table_each(&table->entries, copy_entry, report);
	report->drops = __atomic_load_n(&table->entries.drops, __ATOMIC_RELAXED);
	return copy_snapshot(report, table);
}

/* ---- Keys ---- */

void tp_hist_parts(const struct tp_hist_report *report, const struct tp_count_entry *entry, struct tp_hist_part parts[TP_HIST_KEYS])
{
	const uint64_t *word = entry->words;

	for (uint32_t i = 0; i < report->hist->definition->nr_keys; i++) {
		parts[i] = (struct tp_hist_part){.number = word[0], .words = word + 1};
		word++;
		if (report->layout->kinds[i] == TP_HIST_KEY_TEXT)
			word += (parts[i].number + 7) / 8;
		else if (report->layout->kinds[i] == TP_HIST_KEY_STACK)
			word += parts[i].number;
	}
}

void tp_hist_put_name(struct tp_buffer *to, const struct tp_hist_definition *definition, const struct tp_hist_item *item, bool is_cpu)
{
	const struct tp_hist_node *node = tp_hist_root(definition, item);
	const struct tp_hist_span name = node->kind == TP_HIST_FIELD || node->kind == TP_HIST_VARIABLE ? node->name : item->span;

	if (is_cpu)
		tp_buffer_printf(to, "common_cpu");
	else
		tp_buffer_printf(to, "%.*s", (int)name.len, tp_hist_text_at(definition, name));
}

/* ---- Sorting ---- */

static int compare_numbers(uint64_t a, uint64_t b, bool is_signed)
{
	const uint64_t top = (uint64_t)is_signed << 63;

	a ^= top;
	b ^= top;
	return (a > b) - (a < b);
}

static int compare_texts(const struct tp_hist_part *a, const struct tp_hist_part *b)
{
	const size_t len = (size_t)(a->number < b->number ? a->number : b->number);
	const int result = memcmp(a->words, b->words, len);

	return result ? result : compare_numbers(a->number, b->number, false);
}

static int compare_stacks(const struct tp_hist_part *a, const struct tp_hist_part *b)
{
	for (uint64_t i = 0; i < a->number && i < b->number; i++) {
		if (a->words[i] != b->words[i])
			return a->words[i] < b->words[i] ? -1 : 1;
	}
	return compare_numbers(a->number, b->number, false);
}

static int compare_keys(const struct tp_hist_row *a, const struct tp_hist_row *b, uint32_t first, uint32_t end)
{
	struct tp_hist_part in_a[TP_HIST_KEYS], in_b[TP_HIST_KEYS];
	int result = 0;

	tp_hist_parts(a->report, a->entry, in_a);
	tp_hist_parts(b->report, b->entry, in_b);
	for (uint32_t i = first; i < end && !result; i++) {
		if (a->report->layout->kinds[i] == TP_HIST_KEY_TEXT)
			result = compare_texts(&in_a[i], &in_b[i]);
		else if (a->report->layout->kinds[i] == TP_HIST_KEY_STACK)
			result = compare_stacks(&in_a[i], &in_b[i]);
		else
			result = compare_numbers(in_a[i].number, in_b[i].number, a->report->layout->key_signed[i]);
	}
	return result;
}

static int compare_by(const struct tp_hist_row *a, const struct tp_hist_row *b, uint32_t index)
{
	if (index > TP_HIST_VALUES)
		return compare_keys(a, b, index - 1 - TP_HIST_VALUES, index - TP_HIST_VALUES);
	if (index)
		return compare_numbers(a->sums[index - 1], b->sums[index - 1], false);
	return compare_numbers(a->hits, b->hits, false);
}

/* What is the same by all sort keys is in the order of its keys. */
static int compare_rows(const void *in_a, const void *in_b)
{
	const struct tp_hist_row *a = in_a, *b = in_b;
	const struct tp_hist_definition *definition = a->report->hist->definition;
	int result = definition->nr_sort ? 0 : compare_by(a, b, 0);

	for (uint32_t i = 0; i < definition->nr_sort && !result; i++) {
		result = compare_by(a, b, a->report->sort[i]);
		if (definition->sort[i].descending)
			result = -result;
	}
	return result ? result : compare_keys(a, b, 0, definition->nr_keys);
}

/* ---- Reports ---- */

void tp_hist_report_free(struct tp_hist_report *report)
{
	free(report->entries);
	free(report->rows);
	free(report->tracked);
}

bool tp_hist_report_take(struct tp_hist_report *report, const struct tp_hist *hist)
{
	const struct tp_hist_map *map = hist->map;

	*report = (struct tp_hist_report){
		.hist = hist, .layout = &map->layout, .unset = __atomic_load_n(&hist->unset, __ATOMIC_RELAXED),
	};
	if (!map->table)
		return true;
	for (uint32_t i = 0; i < hist->definition->nr_sort; i++)
		report->sort[i] = tp_hist_sort_index(hist->definition, &map->layout, &hist->definition->sort[i]);
	if (!copy_entries(report, map->table))
		return false;
	qsort(report->rows, report->nr_rows, sizeof(*report->rows), compare_rows);
	return true;
}
