/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/plan.c - what is counted of an event. All that is needed of its
 * description is copied, as its module may go, and its counts stay.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/guard.h"
#include "base/locks.h"
#include "base/message.h"
#include "base/text.h"
#include "sinks/stats/stats.h"

static size_t plans_size(void)
{
	return TP_NR_IDS * sizeof(struct tp_stats_plan *);
}

/* Of which only the pages are there that ids are in. */
bool tp_stats_plans_begin(struct tp_stats_sink *sink)
{
	void *plans = mmap(NULL, plans_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			   -1, 0);

	sink->plans = plans == MAP_FAILED ? NULL : plans;
	return sink->plans != NULL;
}

/* ---- Fields ---- */

enum wanted {
	NOT_WANTED,
	BY_GLOB, /* where it can be counted */
	BY_NAME,
};

static enum wanted is_wanted(struct tp_stats_sink *sink, const char *event, const struct tp_event_field *field)
{
	enum wanted wanted = NOT_WANTED;

	for (size_t i = 0; i < sink->options.nr_selectors; i++) {
		struct tp_stats_selector *selector = &sink->options.selectors[i];
		if (!tp_pattern_matches(selector->pattern, event) || fnmatch(selector->field, field->name, 0) != 0)
			continue;
		selector->found = true;
		if (strcmp(selector->field, field->name) == 0)
			wanted = BY_NAME;
		else if (wanted == NOT_WANTED)
			wanted = BY_GLOB;
	}
	return wanted;
}

static bool is_integer(const struct tp_event_field *field)
{
	const uint32_t size = field->size;

	return field->kind == TP_FIELD && field->type_class == TP_INTEGER &&
	       (size == 1 || size == 2 || size == 4 || size == 8);
}

static bool is_float(const struct tp_event_field *field)
{
	return field->kind == TP_FIELD && field->type_class == TP_FLOAT &&
	       (field->size == sizeof(float) || field->size == sizeof(double));
}

/* False where there is nothing that this could be counted as. */
static bool kind_of(const struct tp_event_field *field, enum tp_stats_kind *kind)
{
	if (field->kind == TP_STRING ||
	    (field->is_char && (field->kind == TP_ARRAY || field->kind == TP_DYNAMIC_ARRAY)))
		*kind = TP_STATS_TEXT;
	else if (is_integer(field))
		*kind = field->symbols ? TP_STATS_SYMBOL : TP_STATS_INTEGER;
	else if (is_float(field))
		*kind = TP_STATS_FLOAT;
	else
		return false;
	return true;
}

static struct tp_value value_of(const struct tp_event_field *from, enum tp_stats_kind kind)
{
	enum tp_value_source source = TP_SOURCE_NUMBER;

	if (from->kind == TP_STRING || from->kind == TP_DYNAMIC_ARRAY)
		source = from->relative ? TP_SOURCE_REL_LOC : TP_SOURCE_DATA_LOC;
	else if (kind == TP_STATS_TEXT || kind == TP_STATS_FLOAT)
		source = TP_SOURCE_ARRAY;
	return tp_value_at(source, from->offset, from->size, from->is_signed);
}

static bool plan_field(struct tp_stats_plan *plan, const struct tp_event_field *from, enum tp_stats_kind kind)
{
	struct tp_stats_field *field = &plan->fields[plan->nr_fields];

	*field = (struct tp_stats_field){
		.name = strdup(from->name),
		.kind = kind,
		.value = value_of(from, kind),
	};
	const unsigned int bits = (unsigned int)__builtin_ctz(TP_STATS_VALUES);
	const uint32_t key_words = kind == TP_STATS_TEXT ? TP_STATS_TEXT_WORDS : 1;
	if (!tp_stats_has_numbers(field) && !tp_count_table_open(&field->table, bits, key_words, 1, 0, false)) {
		free(field->name);
		return false;
	}
	plan->nr_fields++;
	return field->name && (kind != TP_STATS_SYMBOL || tp_value_names_copy(&field->names, from));
}

static bool plan_fields(struct tp_stats_sink *sink, struct tp_stats_plan *plan, const struct tp_event_class *from)
{
	enum tp_stats_kind kind;
	size_t nr = 0;

	for (size_t i = 0; i < sink->options.nr_selectors; i++) {
		struct tp_stats_selector *selector = &sink->options.selectors[i];
		selector->found_event = selector->found_event || tp_pattern_matches(selector->pattern, plan->name);
	}
	for (uint32_t i = 0; i < from->nr_fields; i++) {
		const struct tp_event_field field = tp_event_field_at(from, i);
		nr += is_wanted(sink, plan->name, &field) != NOT_WANTED;
	}
	if (!nr)
		return true;
	plan->fields = calloc(nr, sizeof(*plan->fields));
	if (!plan->fields)
		return false;
	for (uint32_t i = 0; i < from->nr_fields; i++) {
		const struct tp_event_field field = tp_event_field_at(from, i);
		enum wanted wanted = is_wanted(sink, plan->name, &field);
		if (wanted == NOT_WANTED)
			continue;
		if (kind_of(&field, &kind)) {
			if (!plan_field(plan, &field, kind))
				return false;
		} else if (wanted == BY_NAME) {
			tp_complain("statistics '%s': %s.%s is not counted: only numbers, strings and arrays of char "
				    "can be",
				    sink->path, plan->name, field.name);
		}
	}
	return true;
}

/* ---- Counters ---- */

/* Of a row; a page of it has the numbers of 64 events without fields. */
#define CHUNK_WORDS ((size_t)4096)

static struct tp_stats_chunk *chunk_new(struct tp_stats_sink *sink, size_t size)
{
	struct tp_stats_chunk *chunk = tp_malloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	*chunk = (struct tp_stats_chunk){.next = sink->chunks, .counters = tp_counters_new(size), .size = size};
	if (!chunk->counters) {
		free(chunk);
		return NULL;
	}
	sink->chunks = chunk;
	return chunk;
}

static bool plan_counters(struct tp_stats_sink *sink, struct tp_stats_plan *plan)
{
	struct tp_stats_chunk *chunk = sink->chunks;
	size_t size = TP_STATS_BASE_WORDS;

	for (uint32_t i = 0; i < plan->nr_fields; i++) {
		plan->fields[i].at = size;
		if (tp_stats_has_numbers(&plan->fields[i]))
			size += TP_STATS_BUCKETS_AT + tp_stats_nr_buckets(&plan->fields[i]);
	}
	size = (size + TP_STATS_BASE_WORDS - 1) / TP_STATS_BASE_WORDS * TP_STATS_BASE_WORDS;
	if (!chunk || size > chunk->size - chunk->used)
		chunk = chunk_new(sink, size > CHUNK_WORDS ? size : CHUNK_WORDS);
	if (!chunk)
		return false;
	plan->counters = chunk->counters;
	plan->at = chunk->used;
	chunk->used += size;
	for (uint32_t i = 0; i < plan->nr_fields; i++)
		plan->fields[i].at += plan->at;
	return true;
}

/* ---- Plans ---- */

static void plan_free(struct tp_stats_plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_fields; i++) {
		free(plan->fields[i].name);
		free(plan->fields[i].names);
		if (!tp_stats_has_numbers(&plan->fields[i]))
			tp_count_table_close(&plan->fields[i].table);
	}
	free(plan->fields);
	free(plan->name);
	free(plan);
}

static bool plan_make(struct tp_stats_sink *sink, struct tp_stats_plan *plan, const struct tp_event *event)
{
	if (asprintf(&plan->name, "%s:%s", event->system, event->name) < 0) {
		plan->name = NULL;
		return false;
	}
	return plan_fields(sink, plan, event->event_class) && plan_counters(sink, plan);
}

int tp_stats_describe_event(struct tp_sink *head, const struct tp_event *event)
{
	struct tp_stats_sink *sink = (struct tp_stats_sink *)head;
	struct tp_stats_plan *plan = tp_malloc(sizeof(*plan));
	struct tp_guard guard;

	if (!plan)
		return -ENOMEM;
	*plan = (struct tp_stats_plan){.nr_fields = 0};
	if (!plan_make(sink, plan, event)) {
		plan_free(plan);
		return -ENOMEM;
	}
	tp_guard_enter(&guard);
	tp_mutex_lock(&tp_stats_lock);
	plan->next = sink->all_plans;
	sink->all_plans = plan;
	sink->nr_plans++;
	__atomic_store_n(&sink->plans[event->id], plan, __ATOMIC_RELEASE);
	tp_mutex_unlock(&tp_stats_lock);
	tp_guard_leave(&guard);
	return 0;
}

void tp_stats_tell_missing(const struct tp_stats_sink *sink)
{
	for (size_t i = 0; i < sink->options.nr_selectors; i++) {
		const struct tp_stats_selector *selector = &sink->options.selectors[i];
		if (!selector->found)
			tp_complain("statistics '%s': field=%s: %s", sink->path, selector->text,
				    selector->found_event ? "the event has no such field"
						      : "no event of this program has such a name");
	}
}

void tp_stats_plans_forget(struct tp_stats_sink *sink)
{
	for (struct tp_stats_chunk *chunk = sink->chunks; chunk; chunk = chunk->next)
		tp_counters_forget(chunk->counters);
	for (struct tp_stats_plan *plan = sink->all_plans; plan; plan = plan->next) {
		plan->gone = (struct tp_stats_base){.hits = 0};
		for (uint32_t i = 0; i < plan->nr_fields; i++) {
			if (!tp_stats_has_numbers(&plan->fields[i]))
				tp_count_table_forget(&plan->fields[i].table);
		}
	}
}

void tp_stats_plans_free(struct tp_stats_sink *sink)
{
	struct tp_stats_plan *next;
	struct tp_stats_chunk *chunk;

	for (struct tp_stats_plan *plan = sink->all_plans; plan; plan = next) {
		next = plan->next;
		plan_free(plan);
	}
	while ((chunk = sink->chunks)) {
		sink->chunks = chunk->next;
		tp_counters_free(chunk->counters);
		free(chunk);
	}
	if (sink->plans)
		munmap(sink->plans, plans_size());
}
