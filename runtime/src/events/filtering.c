/* SPDX-License-Identifier: MIT */
/*
 * events/filtering.c - see filtering.h.
 *
 * A record is made in scratch memory. What the filter refuses never touches the sink, and what it accepts is copied into
 * a record of the sink's own. All this happens inside the writer, which is a reader: so the program that it has found stays.
 * If the filter can do with the event's early fields, it is evaluated before that: then there is a record of the sink's own
 * or none.
 */
#include <stdlib.h>

#include "base/base.h"
#include "base/scratch.h"
#include "base/text.h"
#include "events/filtering.h"
#include "record/record.h"

static struct tp_filtering *filtering_of(struct tp_sink *head)
{
	return (struct tp_filtering *)((uintptr_t)head - offsetof(struct tp_filtering, head));
}

static bool is_off(const struct tp_filtering *filtering)
{
	return filtering->armed && tp_armed_is_off(filtering->armed);
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

struct tp_sink *tp_early_sink(struct tp_sink *head, const struct tp_event *event, struct trace_entry *early,
			      uint64_t fields)
{
	struct tp_filtering *filtering = filtering_of(head);
	const struct tp_filter_program *program = program_of(filtering);

	if (is_off(filtering))
		return NULL;
	if (!program)
		return filtering->sink;
	const enum tp_filter_answer answer = tp_filter_ask(program, event, early, fields);
	if (answer == TP_FILTER_WANTS_MORE)
		return head;
	return answer == TP_FILTER_ACCEPTS ? filtering->sink : NULL;
}

static const struct tp_sink_ops filtering_ops = {
	.name = "filtering",
	.reserve = filtering_reserve,
	.lost = filtering_lost,
	.commit = filtering_commit,
};

/* The short way of records in scratch memory would not ask whether the event is off. */
struct tp_filtering *tp_filtering_new(struct tp_sink *sink, const struct tp_filter_program *program,
				      const struct tp_armed *armed)
{
	struct tp_filtering *filtering = tp_malloc(sizeof(*filtering));

	if (filtering)
		*filtering = (struct tp_filtering){
			.head = {.ops = &filtering_ops, .key = armed ? TP_NO_KEY : TP_SCRATCH_KEY, .reserved[1] = filtering},
			.sink = sink, .program = program, .armed = armed,
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
