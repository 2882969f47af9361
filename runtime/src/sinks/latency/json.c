/* SPDX-License-Identifier: MIT */
/*
 * sinks/latency/json.c - what has been measured, for programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "count/names.h"
#include "print/print.h"
#include "sinks/latency/latency.h"

typedef unsigned long long number;

#define LINE_SIZE 4096

/* ---- Groups ---- */

/* The event whose fields say the group. */
static const struct tp_latency_event *of_groups(const struct tp_latency *latency)
{
	const enum tp_latency_role role = latency->by_of_begin ? TP_LATENCY_BEGIN : TP_LATENCY_END;
	const struct tp_latency_event *event = latency->all_events;

	while (event && !(event->has_by && event->has_role[role]))
		event = event->next;
	return event;
}

static void put_text(struct tp_buffer *to, const uint64_t *words, size_t len)
{
	char text[TP_COUNT_TEXT_BYTES + 1];

	memcpy(text, words, len);
	text[len] = '\0';
	tp_json_string(to, text);
}

static void put_number(struct tp_buffer *to, const struct tp_latency_part *part, uint64_t value)
{
	struct tp_buffer name = {.text = NULL};

	tp_buffer_printf(to, part->value.is_signed ? "%lld" : "%llu", (number)value);
	if (tp_value_names_put(&name, part->names, value) && !name.failed) {
		tp_buffer_printf(to, ", \"name\": ");
		tp_json_string(to, name.text);
	}
	tp_buffer_free(&name);
}

static void put_by(struct tp_buffer *to, const struct tp_latency *latency, const struct tp_count_entry *entry)
{
	const struct tp_latency_event *event = of_groups(latency);
	const uint64_t *word = entry->words;

	for (uint32_t i = 0; event && i < latency->options.nr_by; i++) {
		tp_buffer_printf(to, "%s{\"value\": ", i ? ", " : "");
		if (latency->by_is_text[i]) {
			put_text(to, word + 1, (size_t)*word);
			word += (*word + 7) / 8;
		} else {
			put_number(to, &event->by[i], *word);
		}
		word++;
		tp_buffer_printf(to, "}");
	}
}

static void put_buckets(struct tp_buffer *to, const struct tp_latency *latency, uint32_t group)
{
	const char *between = "";

	for (uint32_t i = 0; i < TP_NR_BUCKETS; i++) {
		const uint64_t hits = tp_count_sum(&latency->groups, group, TP_LATENCY_BUCKETS + i);
		if (!hits)
			continue;
		tp_buffer_printf(to, "%s[%llu, %llu]", between, (number)tp_bucket_begin(i), (number)hits);
		between = ", ";
	}
}

struct groups {
	struct tp_buffer *to;
	const struct tp_latency *latency;
	const char *between;
};

static void put_group(uint32_t group, void *data)
{
	struct groups *groups = data;
	const struct tp_count_table *table = &groups->latency->groups;
	const struct tp_count_entry *entry = tp_count_entry_at(table, group);
	const struct tp_latency_extremes *extremes = (const struct tp_latency_extremes *)((const char *)entry + table->extra);
	const uint64_t count = tp_count_sum(table, group, TP_LATENCY_COUNT);

	if (!count)
		return;
	tp_buffer_printf(groups->to, "%s\n  {\"by\": [", groups->between);
	if (entry->nr_words)
		put_by(groups->to, groups->latency, entry);
	tp_buffer_printf(groups->to, "], \"count\": %llu, \"sum_ns\": %llu, \"min_ns\": %llu, \"max_ns\": %llu,\n   \"buckets\": [",
			 (number)count, (number)tp_count_sum(table, group, TP_LATENCY_SUM),
			 (number)~__atomic_load_n(&extremes->inverted_least, __ATOMIC_RELAXED),
			 (number)__atomic_load_n(&extremes->most, __ATOMIC_RELAXED));
	put_buckets(groups->to, groups->latency, group);
	tp_buffer_printf(groups->to, "]}");
	groups->between = ",";
}

/* ---- The slowest ---- */

struct line {
	const struct tp_latency *latency;
	const struct trace_entry *entry;
	uint64_t time;
	struct trace_seq line, text;
	bool found;
};

static void print(const struct tp_event *event, void *data)
{
	struct line *line = data;

	if (event->id != line->entry->type)
		return;
	tp_line_event(&line->line, &line->text, event, line->entry);
	line->found = true;
}

/* At the process's end, the program's events have been withdrawn, but are still there. */
static void print_withdrawn(struct line *line)
{
	for (const struct tp_latency_event *one = line->latency->all_events; one && !line->found; one = one->next) {
		if (one->id != line->entry->type || !one->event)
			continue;
		tp_line_event(&line->line, &line->text, one->event, line->entry);
		line->found = true;
	}
}

/* As the text output has it. The event's module may have gone. */
static void put_record(struct tp_buffer *to, const struct tp_latency *latency, const struct tp_latency_slow *slow,
		       enum tp_latency_role role, char *memory)
{
	const struct trace_entry *entry = (const struct trace_entry *)slow->record[role];
	const uint64_t ns = tp_clock_to_ns(&latency->clock, slow->time[role]);
	struct line line = {.latency = latency, .entry = entry};
	struct tp_buffer text = {.text = NULL};

	trace_seq_init(&line.line, memory, LINE_SIZE);
	trace_seq_init(&line.text, memory + LINE_SIZE, LINE_SIZE);
	tp_buffer_printf(&text, "%llu.%09llu ", (number)(ns / 1000000000u), (number)(ns % 1000000000u));
	if (slow->size[role])
		tp_for_each_event(print, &line);
	if (slow->size[role] && !line.found)
		print_withdrawn(&line);
	if (line.found)
		tp_buffer_printf(&text, "%d/%d %.*s%s", (int)getpid(), (int)entry->pid, (int)line.line.len, line.line.buffer,
				 line.line.full ? TP_ELLIPSIS : "");
	else
		tp_buffer_printf(&text, slow->size[role] ? "an event that is not there any more" : "a record that was too long to be kept");
	to->failed = to->failed || text.failed;
	tp_json_string(to, text.failed ? "" : text.text);
	tp_buffer_free(&text);
}

static void put_slowest(struct tp_buffer *to, const struct tp_latency *latency)
{
	struct tp_latency_slow *slow = malloc(latency->slowest.nr * sizeof(*slow) + 1);
	char *memory = malloc(2 * LINE_SIZE);

	if (!slow || !memory)
		to->failed = true;
	const size_t nr = to->failed ? 0 : tp_latency_slowest_copy(&latency->slowest, slow);
	for (size_t i = 0; i < nr; i++) {
		tp_buffer_printf(to, "%s\n  {\"ns\": %llu, \"begin\": ", i ? "," : "", (number)slow[i].ns);
		put_record(to, latency, &slow[i], TP_LATENCY_BEGIN, memory);
		tp_buffer_printf(to, ",\n   \"end\": ");
		put_record(to, latency, &slow[i], TP_LATENCY_END, memory);
		tp_buffer_printf(to, "}");
	}
	free(memory);
	free(slow);
}

/* ---- All ---- */

/* others: what the end calls them, "id:request"; or NULL. */
static void put_names(struct tp_buffer *to, const char *name, char *const *names, char *const *others, uint32_t nr)
{
	tp_buffer_printf(to, " \"%s\": [", name);
	for (uint32_t i = 0; i < nr; i++) {
		const bool is_other = others && strcmp(others[i], names[i]) != 0;
		struct tp_buffer both = {.text = NULL};
		tp_buffer_printf(&both, "%s%s%s", names[i], is_other ? ":" : "", is_other ? others[i] : "");
		tp_buffer_printf(to, i ? ", " : "");
		to->failed = to->failed || both.failed;
		tp_json_string(to, both.failed ? "" : both.text);
		tp_buffer_free(&both);
	}
	tp_buffer_printf(to, "],");
}

static void put_head(struct tp_buffer *to, const struct tp_latency *latency)
{
	const struct tp_latency_options *options = &latency->options;

	tp_buffer_printf(to, "{\"version\": 1, \"program\": ");
	tp_json_string(to, tp_program_name);
	tp_buffer_printf(to, ", \"pid\": %d,\n \"begin\": ", (int)getpid());
	tp_json_string(to, tp_pattern_text(options->events[TP_LATENCY_BEGIN]));
	tp_buffer_printf(to, ", \"end\": ");
	tp_json_string(to, tp_pattern_text(options->events[TP_LATENCY_END]));
	tp_buffer_printf(to, ",");
	put_names(to, "key", options->fields[TP_LATENCY_BEGIN], options->fields[TP_LATENCY_END], options->nr_fields);
	put_names(to, "by", options->by, NULL, options->nr_by);
}

int tp_latency_report(struct tp_sink *sink, struct tp_buffer *to)
{
	const struct tp_latency *latency = (const struct tp_latency *)sink;
	const uint64_t now = tp_clock_now(&latency->clock);
	uint64_t earliest = now;
	const uint64_t waiting = tp_pairs_waiting(&latency->pairs, &earliest);
	const uint64_t oldest = now > earliest ? tp_latency_ns(latency, now - earliest) : 0;

	put_head(to, latency);
	tp_buffer_printf(to, "\n \"waiting\": %llu, \"oldest_ns\": %llu, \"forgotten\": %llu, \"unmatched\": %llu, \"lost\": %lu,\n \"groups\": [",
			 (number)waiting, (number)oldest, (number)__atomic_load_n(&latency->pairs.forgotten, __ATOMIC_RELAXED),
			 (number)__atomic_load_n(&latency->pairs.unmatched, __ATOMIC_RELAXED), tp_sink_lost(sink));
	tp_count_table_each(&latency->groups, put_group, &(struct groups){to, latency, ""});
	tp_buffer_printf(to, "],\n \"slowest\": [");
	put_slowest(to, latency);
	tp_buffer_printf(to, "]}\n");
	return to->failed ? -ENOMEM : 0;
}
