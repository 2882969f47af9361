/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/json.c - a histogram as a JSON object: numbers are numbers, with their sign, and have beside them the names
 * that they have.
 */
#include <string.h>

#include "base/message.h"
#include "base/text.h"
#include "print/symbol.h"
#include "sinks/hist/report.h"

typedef unsigned long long number;

static void put_integer(struct tp_buffer *to, uint64_t value, bool is_signed)
{
	tp_buffer_printf(to, is_signed ? "%lld" : "%llu", (number)value);
}

static void put_member(struct tp_buffer *to, const char *name, const char *text)
{
	tp_buffer_printf(to, ", \"%s\": ", name);
	tp_json_string(to, text);
}

static bool put_symbol(struct tp_buffer *to, uintptr_t address)
{
	struct tp_symbol symbol;

	if (!tp_symbol_find(address, &symbol))
		return false;
	put_member(to, "symbol", symbol.name);
	tp_buffer_printf(to, ", \"offset\": %lu", (unsigned long)(address - symbol.address));
	return true;
}

/* The call is in front of where it returns to. Its offset is in the function, or else in the file. */
static void put_call(struct tp_buffer *to, uintptr_t address)
{
	struct tp_object object;

	if (put_symbol(to, address - 1) || !tp_object_find(address - 1, &object))
		return;
	put_member(to, "file", tp_object_name(&object, tp_program_name));
	tp_buffer_printf(to, ", \"offset\": %lu", (unsigned long)(address - 1 - object.base));
}

static void put_text(struct tp_buffer *to, const struct tp_hist_part *part)
{
	char text[TP_COUNT_TEXT_BYTES + 1];

	memcpy(text, part->words, (size_t)part->number);
	text[part->number] = '\0';
	tp_json_string(to, text);
}

static void put_stack(struct tp_buffer *to, const struct tp_hist_part *part)
{
	tp_buffer_printf(to, "[");
	for (uint64_t i = 0; i < part->number; i++) {
		tp_buffer_printf(to, "%s{\"address\": %llu", i ? ", " : "", (number)part->words[i]);
		put_call(to, (uintptr_t)part->words[i]);
		tp_buffer_printf(to, "}");
	}
	tp_buffer_printf(to, "]");
}

/* What the number means, if that is known. */
static void put_meaning(struct tp_buffer *to, const struct tp_hist_report *report, uint32_t key, uint64_t value,
			const struct tp_count_entry *entry)
{
	const struct tp_hist_definition *definition = report->hist->definition;
	const struct tp_hist_node *node = tp_hist_root(definition, &definition->keys[key]);
	struct tp_buffer name = {.text = NULL};
	char comm[TP_COUNT_COMM + 1] = "";
	const char *call;

	switch (node->modifier) {
	case TP_HIST_SYM:
	case TP_HIST_SYM_OFFSET:
		put_symbol(to, (uintptr_t)value);
		break;
	case TP_HIST_EXECNAME:
		memcpy(comm, entry->comm, TP_COUNT_COMM);
		put_member(to, "comm", comm);
		break;
	case TP_HIST_SYSCALL:
		call = tp_syscall_name(value);
		if (call)
			put_member(to, "name", call);
		break;
	case TP_HIST_LOG2: /* the values of the range */
	case TP_HIST_BUCKETS:
		break;
	default:
		if (tp_value_names_put(&name, report->hist->map->names[key], value) && !name.failed)
			put_member(to, "name", name.text);
	}
	tp_buffer_free(&name);
}

static void put_keys(struct tp_buffer *to, const struct tp_hist_report *report, const struct tp_count_entry *entry)
{
	const struct tp_hist_definition *definition = report->hist->definition;
	struct tp_hist_part parts[TP_HIST_KEYS];

	tp_hist_parts(report, entry, parts);
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		tp_buffer_printf(to, "%s{\"value\": ", i ? ", " : "");
		if (report->layout->kinds[i] == TP_HIST_KEY_TEXT) {
			put_text(to, &parts[i]);
		} else if (report->layout->kinds[i] == TP_HIST_KEY_STACK) {
			put_stack(to, &parts[i]);
		} else {
			put_integer(to, parts[i].number, report->layout->key_signed[i]);
			put_meaning(to, report, i, parts[i].number, entry);
		}
		tp_buffer_printf(to, "}");
	}
}

static void put_entry(struct tp_buffer *to, const struct tp_hist_report *report, const struct tp_hist_row *row)
{
	tp_buffer_printf(to, "{\"keys\": [");
	put_keys(to, report, row->entry);
	tp_buffer_printf(to, "], \"hitcount\": %llu, \"values\": [", (number)row->hits);
	for (uint32_t i = 0; i < report->hist->definition->nr_values; i++) {
		tp_buffer_printf(to, "%s", i ? ", " : "");
		put_integer(to, row->sums[i], report->layout->value_signed[i]);
	}
	tp_buffer_printf(to, "]");
	tp_hist_tracked_put_json(to, row);
	tp_buffer_printf(to, "}");
}

/* {"name": "size", "modifier": "buckets", "size": 10} */
static void put_item(struct tp_buffer *to, const struct tp_hist_definition *definition, const struct tp_hist_item *item, bool is_cpu)
{
	const struct tp_hist_node *node = tp_hist_root(definition, item);
	struct tp_buffer name = {.text = NULL};

	tp_hist_put_name(&name, definition, item, is_cpu);
	tp_buffer_printf(to, "{\"name\": ");
	tp_json_string(to, name.failed ? "" : name.text);
	tp_buffer_free(&name);
	if (node->kind == TP_HIST_FIELD && node->modifier != TP_HIST_PLAIN)
		put_member(to, "modifier", tp_hist_modifier_names[node->modifier]);
	if (node->kind == TP_HIST_FIELD && node->modifier == TP_HIST_BUCKETS)
		tp_buffer_printf(to, ", \"size\": %llu", (number)node->number);
	tp_buffer_printf(to, "}");
}

static void put_events(struct tp_buffer *to, const struct tp_hist *hist)
{
	const struct tp_hist_program *program = hist->attached;

	for (; program; program = program->next_attached) {
		tp_json_string(to, program->name);
		tp_buffer_printf(to, "%s", program->next_attached ? ", " : "");
	}
}

void tp_hist_put_json(struct tp_buffer *to, const struct tp_hist_report *report)
{
	const struct tp_hist_definition *definition = report->hist->definition;
	struct tp_buffer info = {.text = NULL};

	tp_hist_put_info(&info, report->hist);
	tp_buffer_printf(to, "{\"trigger\": ");
	tp_json_string(to, info.failed ? "" : info.text);
	tp_buffer_free(&info);
	tp_buffer_printf(to, ",\n \"paused\": %s,\n \"events\": [", report->hist->paused ? "true" : "false");
	put_events(to, report->hist);
	tp_buffer_printf(to, "],\n \"keys\": [");
	for (uint32_t i = 0; i < definition->nr_keys; i++) {
		tp_buffer_printf(to, "%s", i ? ", " : "");
		put_item(to, definition, &definition->keys[i], report->layout->is_cpu[i]);
	}
	tp_buffer_printf(to, "],\n \"values\": [");
	for (uint32_t i = 0; i < definition->nr_values; i++) {
		tp_buffer_printf(to, "%s", i ? ", " : "");
		put_item(to, definition, &definition->values[i], false);
	}
	tp_buffer_printf(to, "],\n \"entries\": [");
	for (uint32_t i = 0; i < report->nr_rows; i++) {
		tp_buffer_printf(to, i ? ",\n  " : "\n  ");
		put_entry(to, report, &report->rows[i]);
	}
	tp_buffer_printf(to, "],\n \"totals\": {\"hits\": %llu, \"entries\": %u, \"dropped\": %llu", (number)report->hits,
			 report->nr_rows, (number)report->drops);
	if (report->unset)
		tp_buffer_printf(to, ", \"unset\": %llu", (number)report->unset);
	tp_buffer_printf(to, "}}");
}
