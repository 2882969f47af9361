/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/text.c - a histogram as the kernel's file "hist" has it. Only what would end a line, or move a terminal's
 * cursor, is written as \xHH.
 */
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "print/symbol.h"
#include "sinks/hist/report.h"

typedef unsigned long long number;

#define BAR 20 /* characters */
#define BAD_PERCENTAGE UINT32_MAX

/* ---- Keys ---- */

/*
 * The symbol's name, perhaps with "+0x10/0x40"; or the address. Of a call's return address, the function with the call, or
 * else the place in its file: addresses are others in each process.
 */
static void put_symbol(struct tp_buffer *to, uintptr_t address, bool with_offset, bool is_return)
{
	struct tp_symbol symbol;
	struct tp_object object;

	if (tp_symbol_find(address - is_return, &symbol)) {
		tp_buffer_printf(to, "%s", symbol.name);
		if (with_offset)
			tp_buffer_printf(to, "+0x%lx/0x%zx", (unsigned long)(address - symbol.address), symbol.size);
	} else if (is_return && tp_object_find(address - 1, &object)) {
		tp_buffer_printf(to, "%s(+0x%lx)", tp_object_name(&object, tp_program_name), (unsigned long)(address - object.base));
	} else {
		tp_buffer_printf(to, "0x%lx", (unsigned long)address);
	}
}

/* To the left in so many characters. */
static void put_padded(struct tp_buffer *to, size_t begin, size_t width)
{
	const size_t len = to->len - begin;

	if (!to->failed && len < width)
		tp_buffer_printf(to, "%*s", (int)(width - len), "");
}

static void put_text(struct tp_buffer *to, const char *text, size_t len)
{
	const size_t begin = to->len;

	tp_buffer_put_plain(to, text, len);
	put_padded(to, begin, 50);
}

static void put_stack(struct tp_buffer *to, const struct tp_hist_part *part)
{
	for (uint64_t i = 0; i < part->number; i++) {
		tp_buffer_printf(to, "         ");
		put_symbol(to, (uintptr_t)part->words[i], true, true);
		tp_buffer_printf(to, "\n");
	}
}

static void put_number(struct tp_buffer *to, const struct tp_hist_node *node, const struct tp_hist_part *part, const char *comm)
{
	const number n = part->number;
	const char *call;
	size_t begin;

	switch (node->modifier) {
	case TP_HIST_HEX:
		tp_buffer_printf(to, "%llx", n);
		break;
	case TP_HIST_SYM:
	case TP_HIST_SYM_OFFSET:
		tp_buffer_printf(to, "[%llx] ", n);
		begin = to->len;
		put_symbol(to, (uintptr_t)n, node->modifier == TP_HIST_SYM_OFFSET, false);
		put_padded(to, begin, node->modifier == TP_HIST_SYM ? 45 : 55);
		break;
	case TP_HIST_EXECNAME:
		tp_buffer_printf(to, "%-16.*s[%10llu]", TP_COUNT_COMM, comm, n);
		break;
	case TP_HIST_SYSCALL:
		call = tp_syscall_name(n);
		begin = to->len;
		tp_buffer_printf(to, call ? "sys_%s" : "unknown_syscall", call);
		put_padded(to, begin, 30);
		tp_buffer_printf(to, "[%3llu]", n);
		break;
	case TP_HIST_LOG2:
		tp_buffer_printf(to, "~ 2^%-2llu", n);
		break;
	case TP_HIST_BUCKETS:
		tp_buffer_printf(to, "~ %llu-%llu", n, n + (number)node->number - 1);
		break;
	default:
		tp_buffer_printf(to, "%10llu", n);
	}
}

static void put_keys(struct tp_buffer *to, const struct tp_hist_report *report, const struct tp_count_entry *entry)
{
	const struct tp_hist_definition *definition = report->hist->definition;
	struct tp_hist_part parts[TP_HIST_KEYS];
	bool multiline = false;

	tp_hist_parts(report, entry, parts);
	tp_buffer_printf(to, "{ ");
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		const struct tp_hist_item *key = &definition->keys[i];
		tp_buffer_printf(to, "%s", i ? ", " : "");
		if (report->layout->kinds[i] == TP_HIST_KEY_STACK) {
			if (tp_hist_is_own_stack(report->hist, i))
				tp_buffer_printf(to, "common_stacktrace");
			else
				tp_hist_put_item(to, definition, key, false);
			tp_buffer_printf(to, ":\n");
			put_stack(to, &parts[i]);
			multiline = true;
			continue;
		}
		tp_hist_put_name(to, definition, key, false);
		tp_buffer_printf(to, ": ");
		if (report->layout->kinds[i] == TP_HIST_KEY_TEXT)
			put_text(to, (const char *)parts[i].words, (size_t)parts[i].number);
		else
			put_number(to, tp_hist_root(definition, key), &parts[i], entry->comm);
	}
	tp_buffer_printf(to, multiline ? "}" : " }");
}

/* ---- Values ---- */

/* Hundredths of a percent; as the kernel rounds them. */
static uint32_t percentage(uint64_t value, uint64_t of)
{
	if (of && value < UINT64_MAX / 10000)
		return (uint32_t)(value * 10000 / of);
	of /= 10000;
	if (!of)
		return value ? BAD_PERCENTAGE : 0;
	return (uint32_t)(value / of);
}

static void put_bar(struct tp_buffer *to, uint64_t value, uint64_t max)
{
	const uint32_t part = percentage(value, max);
	char bar[BAR + 1] = "[ERROR]";

	if (part != BAD_PERCENTAGE)
		snprintf(bar, sizeof(bar), "%.*s", (int)(part * BAR / 10000 < BAR ? part * BAR / 10000 : BAR), "####################");
	tp_buffer_printf(to, part == BAD_PERCENTAGE ? ": %20s" : ": %-20s", bar);
}

static void put_value(struct tp_buffer *to, const struct tp_hist_report *report, const struct tp_hist_row *row, uint32_t i)
{
	const struct tp_hist_definition *definition = report->hist->definition;
	const enum tp_hist_modifier modifier = tp_hist_root(definition, &definition->values[i])->modifier;
	const uint64_t value = row->sums[i];
	const uint32_t part = percentage(value, report->total[i]);

	tp_buffer_printf(to, "  ");
	tp_hist_put_name(to, definition, &definition->values[i], false);
	if (modifier == TP_HIST_GRAPH)
		put_bar(to, value, report->max[i]);
	else if (modifier == TP_HIST_PERCENT && part == BAD_PERCENTAGE)
		tp_buffer_printf(to, " (%%):[ERROR]");
	else if (modifier == TP_HIST_PERCENT)
		tp_buffer_printf(to, " (%%): %3u.%02u", part / 100, part % 100);
	else
		tp_buffer_printf(to, modifier == TP_HIST_HEX ? ": %10llx" : ": %10llu", (number)value);
}

static void put_entry(struct tp_buffer *to, const struct tp_hist_report *report, const struct tp_hist_row *row)
{
	put_keys(to, report, row->entry);
	if (!report->hist->definition->no_hitcount)
		tp_buffer_printf(to, " hitcount: %10llu", (number)row->hits);
	for (uint32_t i = 0; i < report->hist->definition->nr_values; i++)
		put_value(to, report, row, i);
	tp_hist_tracked_put_text(to, row);
	tp_buffer_printf(to, "\n");
}

static void put_snapshot(struct tp_buffer *to, const struct tp_hist_report *report)
{
	const struct tp_hist_definition *definition = report->hist->definition;
	uint32_t i = 0;

	if (!report->snapshot)
		return;
	while (definition->actions[i].kind != TP_HIST_SNAPSHOT)
		i++;
	const struct tp_hist_action *action = &definition->actions[i];
	tp_buffer_printf(to, "\nSnapshot taken.  Details:\n\ttriggering value { %s(%.*s) }: %10llu",
			 action->handler == TP_HIST_ONMAX ? "onmax" : "onchange", (int)action->variable.len,
			 tp_hist_text_at(definition, action->variable), (number)report->snapshot_value);
	tp_buffer_printf(to, "\ttriggered by event with key: ");
	put_keys(to, report, report->snapshot);
	tp_buffer_printf(to, "\n");
}

void tp_hist_put_text(struct tp_buffer *to, const struct tp_hist_report *report)
{
	tp_buffer_printf(to, "# event histogram\n#\n# trigger info: ");
	tp_hist_put_info(to, report->hist);
	tp_buffer_printf(to, "\n#\n\n");
	for (uint32_t i = 0; i < report->nr_rows; i++)
		put_entry(to, report, &report->rows[i]);
	put_snapshot(to, report);
	tp_buffer_printf(to, "\nTotals:\n    Hits: %llu\n    Entries: %u\n    Dropped: %llu\n", (number)report->hits,
			 report->nr_rows, (number)report->drops);
	if (report->unset)
		tp_buffer_printf(to, "    Unset: %llu\n", (number)report->unset);
}
