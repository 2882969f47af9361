/* SPDX-License-Identifier: MIT */
/*
 * events/filtering.c - see filtering.h.
 *
 * A record is made in scratch memory. What the filter refuses never touches the sink, and what it accepts is copied into
 * a record of the sink's own. All this happens inside the writer, which is a reader: so the program that it has found stays.
 * If the event has early fields, and the filter needs no others, no record is made before it has been accepted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/memory.h"
#include "base/scratch.h"
#include "core/core.h"
#include "events/filtering.h"
#include "record/early.h"
#include "record/record.h"

static struct tp_filtering *filtering_of(struct tp_sink *head)
{
	return (struct tp_filtering *)((uintptr_t)head - offsetof(struct tp_filtering, head));
}

static bool is_off(const struct tp_filtering *filtering)
{
	return filtering->soft && tp_soft_is_off(filtering->soft);
}

/* As the runtime does it for the sink itself. */
static void filtering_lost(struct tp_sink *head, enum tp_lost cause)
{
	struct tp_sink *sink = filtering_of(head)->sink;

	if (!is_off(filtering_of(head)) && tp_sink_is_on(sink))
		tp_sink_lose(sink, cause);
}

static bool filtering_reserve(struct tp_record *rec)
{
	if (is_off(filtering_of(rec->sink)))
		return false;
	rec->entry = tp_scratch_push(rec->size);
	if (__builtin_expect(!rec->entry, 0))
		filtering_lost(rec->sink, TP_LOST_NESTED);
	return rec->entry != NULL;
}

/* Pairs with the release in tp_filtering_set(): who finds the program finds its steps. */
static const struct tp_filter_program *program_of(const struct tp_filtering *filtering)
{
	return __atomic_load_n(&filtering->program, __ATOMIC_ACQUIRE);
}

static void filtering_commit(struct tp_record *rec)
{
	struct tp_filtering *filtering = filtering_of(rec->sink);
	const struct tp_filter_program *program = program_of(filtering);

	if (!program || tp_filter_accepts(program, rec->entry, rec->size))
		tp_record_pass_on(filtering->sink, rec);
	tp_scratch_pop_short(rec->entry);
}

/* ---- Before a record is made ---- */

/*
 * The program may be another one when the record is complete. That evaluates it again only where it must: memory may have
 * changed meanwhile, and what is in the record is what counts.
 */
struct tp_sink *tp_early_sink(void *data, const struct tp_event *event, struct trace_entry *entry)
{
	struct tp_filtering *filtering = filtering_of(data);
	const struct tp_filter_program *program = program_of(filtering);
	const tp_early_t *early = tp_early_of(event);

	if (is_off(filtering))
		return NULL;
	if (!program)
		return filtering->sink;
	const enum tp_filter_answer answer = tp_filter_ask(program, event, entry, early->fields, early->exact);
	if (answer == TP_FILTER_REFUSES)
		return NULL;
	return answer == TP_FILTER_ACCEPTS ? filtering->sink : &filtering->head;
}

tp_probe_t tp_filtering_probe(const struct tp_event *event, const struct tp_filter_program *program)
{
	const tp_early_t *early = tp_early_of(event);

	return early && (!program || tp_filter_begins_with(program, early->fields)) ? early->probe : event->record;
}

/* The early fields are in the fixed part, which is on the thread's stack: a signal handler's may be small. */
#define EARLY_BYTES_MAX 1024u
#define EARLY_FIELDS_MAX 64u

/* A number, or an expression of numbers. Names, strings and assignments are none. */
static bool is_number(const char *text)
{
	bool in_number = false;

	for (; *text; text++) {
		const bool is_digit = *text >= '0' && *text <= '9';
		const bool is_letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
		if (!is_digit && !is_letter && !strchr(" ()+-*/%<>&|^~!?:.", *text))
			return false;
		in_number = is_digit || (in_number && is_letter);
		if (is_letter && !in_number)
			return false;
	}
	return true;
}

/* A name of TP_fast_assign that is a macro may do anything, and so change what was computed before. */
static bool are_harmless(const char *names)
{
	for (; names && *names; names += strlen(names) + 1) {
		const size_t len = strcspn(names, "=");
		const char *text = names + len + 1;
		if ((strlen(text) != len || memcmp(names, text, len) != 0) && !is_number(text))
			return false;
	}
	return true;
}

static bool is_usable(const tp_early_t *early)
{
	return early->size >= sizeof(*early) && early->event->event_class->fixed_size <= EARLY_BYTES_MAX &&
	       early->event->event_class->nr_fields <= EARLY_FIELDS_MAX && are_harmless(early->names);
}

/* Each file of a module calls it: also when the module is loaded already, and its events may be hit. */
void tp_early_load(const struct tp_module *module, const tp_early_t **begin, const tp_early_t **end)
{
	if (!tp_module_is_served(module) || __atomic_load_n(&module->loaded, __ATOMIC_RELAXED))
		return;
	for (const tp_early_t **at = begin; at < end; at++) {
		if (*at && is_usable(*at)) /* some linkers pad with NULL */
			(*at)->event->reserved[1] = (void *)(uintptr_t)*at;
	}
}

static const struct tp_sink_ops filtering_ops = {
	.name = "filtering",
	.reserve = filtering_reserve,
	.lost = filtering_lost,
	.commit = filtering_commit,
};

/* The short way of records in scratch memory would not ask whether the event is off. */
struct tp_filtering *tp_filtering_new(struct tp_sink *sink, const struct tp_filter_program *program,
				      const struct tp_soft *soft)
{
	struct tp_filtering *filtering = tp_malloc(sizeof(*filtering));

	if (filtering)
		*filtering = (struct tp_filtering){
			.head = {.ops = &filtering_ops, .key = soft ? TP_NO_KEY : TP_SCRATCH_KEY},
			.sink = sink, .program = program, .soft = soft,
		};
	return filtering;
}

void tp_filtering_free(struct tp_filtering *filtering)
{
	free(filtering);
}

void tp_filtering_set(struct tp_filtering *filtering, const struct tp_filter_program *program)
{
	__atomic_store_n(&filtering->program, program, __ATOMIC_RELEASE);
}

static void free_retired(struct tp_retired *retired)
{
	tp_filtering_free((struct tp_filtering *)retired);
}

void tp_filtering_retire(struct tp_filtering *filtering)
{
	tp_retire(&filtering->retired, free_retired);
}
