/* SPDX-License-Identifier: MIT */
/*
 * events/filtering.c - see filtering.h.
 *
 * A record is made in scratch memory. What the filter refuses never touches the sink, and what it accepts is copied into
 * a record of the sink's own. All this happens inside the writer, which is a reader: so the program that it has found stays.
 * If the filter can do with the event's early fields, it is evaluated before that: then there is a record of the sink's own
 * or none.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		tp_pass_record_on(filtering->sink, rec);
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

static void free_retired_filtering(struct tp_retired *retired)
{
	tp_filtering_free((struct tp_filtering *)retired);
}

void tp_filtering_retire(struct tp_filtering *filtering)
{
	tp_retire(&filtering->retired, free_retired_filtering);
}

/*
 * A call of tp_enable. A filter is compiled once for each layout that it meets. The program stays with the rule: going back to a rule needs
 * no memory.
 */

/* A filter for a layout. */
struct tp_fit {
	struct tp_fit *next; /* of the same group, whose events may have several */
	uint16_t id;         /* the layout's */
	struct tp_filter_program *program; /* NULL: it doesn't fit */
};

/* "0" takes filters off in the kernel. */
static bool is_none(const char *filter)
{
	if (!filter)
		return true;
	filter += strspn(filter, " \t\n");
	return *filter == '0' && !filter[1 + strspn(filter + 1, " \t\n")];
}

struct tp_rule *tp_rule_new(const char *patterns, const char *filter, bool enable, int *error,
			    struct tp_filter_error *wrong)
{
	struct tp_rule *rule = tp_malloc(sizeof(*rule));

	*error = -ENOMEM;
	*wrong = (struct tp_filter_error){.error = 0};
	if (!rule)
		return NULL;
	*rule = (struct tp_rule){.enable = enable, .pattern = tp_pattern_new(patterns, error)};
	if (rule->pattern && !is_none(filter)) {
		rule->filter = tp_filter_new(filter, wrong);
		*error = wrong->error;
	}
	if (!*error)
		return rule;
	tp_rule_free(rule);
	return NULL;
}

void tp_rule_free(struct tp_rule *rule)
{
	for (size_t i = 0; i < rule->nr_fits; i++) {
		while (rule->fits[i]) {
			struct tp_fit *fit = rule->fits[i];
			rule->fits[i] = fit->next;
			tp_filter_program_free(fit->program);
			free(fit);
		}
	}
	free(rule->fits);
	tp_filter_free(rule->filter);
	if (rule->pattern)
		tp_pattern_free(rule->pattern);
	free(rule);
}

static void free_retired_rule(struct tp_retired *retired)
{
	tp_rule_free((struct tp_rule *)retired);
}

void tp_rule_retire(struct tp_rule *rule)
{
	if (rule->nr_fits)
		tp_retire(&rule->retired, free_retired_rule);
	else
		tp_rule_free(rule);
}

/* ---- Programs ---- */

static bool room_for_fit(struct tp_rule *rule, const struct tp_event_group *group)
{
	if (group->number < rule->nr_fits)
		return true;
	struct tp_fit **fits = tp_malloc(tp_groups.room * sizeof(struct tp_fit *));
	if (!fits)
		return false;
	memset(fits, 0, tp_groups.room * sizeof(struct tp_fit *));
	if (rule->nr_fits)
		memcpy(fits, rule->fits, rule->nr_fits * sizeof(struct tp_fit *));
	free(rule->fits);
	rule->fits = fits;
	rule->nr_fits = tp_groups.room;
	return true;
}

/* NULL: no memory. */
static struct tp_fit *fit_new(struct tp_rule *rule, const struct tp_event_group *group, const struct tp_event *event)
{
	struct tp_fit *fit = room_for_fit(rule, group) ? tp_malloc(sizeof(*fit)) : NULL;
	struct tp_filter_error error;

	if (!fit)
		return NULL;
	*fit = (struct tp_fit){
		.next = rule->fits[group->number], .id = event->id,
		.program = tp_filter_compile(rule->filter, event, &error),
	};
	const bool failed = !fit->program && error.error == -ENOMEM;
	tp_filter_error_free(&error);
	if (failed) {
		free(fit);
		return NULL;
	}
	rule->fits[group->number] = fit;
	return fit;
}

static struct tp_fit *fit_of(struct tp_rule *rule, const struct tp_event_group *group, const struct tp_event *event)
{
	struct tp_fit *fit = group->number < rule->nr_fits ? rule->fits[group->number] : NULL;

	while (fit && fit->id != event->id)
		fit = fit->next;
	return fit ? fit : fit_new(rule, group, event);
}

bool tp_rule_is_about(struct tp_rule *rule, const struct tp_event_group *group, const struct tp_event *event,
		      const struct tp_filter_program **program, int *error)
{
	if (!tp_pattern_matches(rule->pattern, group->name))
		return false;
	const struct tp_fit *fit = rule->filter ? fit_of(rule, group, event) : NULL;
	if (rule->filter && !fit)
		*error = -ENOMEM;
	*program = fit ? fit->program : NULL;
	return !rule->filter || *program;
}

bool tp_rule_has_program(const struct tp_rule *rule, const struct tp_event_group *group,
			 const struct tp_filter_program *program)
{
	const struct tp_fit *fit = group->number < rule->nr_fits ? rule->fits[group->number] : NULL;

	while (fit && fit->program != program)
		fit = fit->next;
	return program && fit;
}

bool tp_rule_misfits(struct tp_rule *rule, const struct tp_event_group *group, const struct tp_event *event,
		     struct tp_filter_error *error)
{
	*error = (struct tp_filter_error){.error = 0};
	if (!rule->filter || !tp_pattern_matches(rule->pattern, group->name))
		return false;
	tp_filter_program_free(tp_filter_compile(rule->filter, event, error));
	return error->error == -EINVAL;
}

void tp_rule_tell_misfits(struct tp_buffer *to, const struct tp_rule *rule, bool fires, int nr, const char *first,
			  const struct tp_filter_error *error)
{
	if (nr > 1)
		tp_buffer_printf(to, "the filter does not fit %d of the events, which %s, as '%s': ", nr,
				 fires ? "do not fire the trigger" : "stay as they were", first);
	else
		tp_buffer_printf(to, "the filter does not fit '%s', which %s: ", first,
				 fires ? "does not fire the trigger" : "stays as it was");
	tp_filter_error_print_line(to, tp_filter_text(rule->filter), error);
}
