/* SPDX-License-Identifier: MIT */
#include "select/selection.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/pattern.h"
#include "filter/filter.h"
#include "select/description.h"
#include "select/record_field.h"
#include "fail_msg.h"
#include "base/nearest.h"

struct rule {
	struct tp_pattern *pattern;
	struct tp_filter *filter; /* NULL: all records */

	/* What became of it, for messages. */
	size_t nr_matches, nr_fits, nr_misfits;
	char misfit[256]; /* the one that is told */
	struct tp_filter_error why;
};

/* Of an event. */
struct decision {
	bool is_made, is_wanted;
	struct tp_filter_program *program; /* NULL: all of its records */
};

struct decisions {
	struct decision by_id[NR_EVENT_IDS];
};

struct selection {
	char *text; /* cut into the rules */
	char *given;
	struct rule *rules;
	size_t nr;
	struct decisions **by_trace;
	size_t nr_traces;
};

/* ---- Rules ---- */

static bool is_no_filter(const char *filter)
{
	return !filter || (*filter == '0' && !filter[1 + strspn(filter + 1, TP_BLANKS)]);
}

static bool tell_wrong(const char *filter, struct tp_filter_error *wrong)
{
	struct tp_buffer text = {.text = NULL};

	if (wrong->error == -ENOMEM)
		return fail_no_memory();
	tp_filter_error_print_line(&text, filter, wrong);
	fail_msg("the filter '%s' is wrong: %s", filter, text.text ? text.text : wrong->message);
	tp_buffer_free(&text);
	tp_filter_error_free(wrong);
	return false;
}

static bool parse_rule(struct rule *rule, char *text)
{
	char *filter = tp_pattern_take_filter(text);
	struct tp_filter_error wrong;
	int error;

	text = tp_trim(text);
	rule->pattern = tp_pattern_new(text, &error);
	if (!rule->pattern)
		return error == -ENOMEM ? fail_no_memory() :
		       fail_msg("'%s' is no list of events: give one such as 'net:*,!net:net_close'", text);
	if (is_no_filter(filter))
		return true;
	rule->filter = tp_filter_new(filter, &wrong);
	return rule->filter || tell_wrong(filter, &wrong);
}

static bool parse(struct selection *selection)
{
	size_t room = 1;

	for (const char *at = selection->text; *at; at++)
		room += *at == ';';
	selection->rules = calloc(room, sizeof(*selection->rules));
	if (!selection->rules)
		return fail_no_memory();
	for (char *next, *at = selection->text; at; at = next) {
		next = tp_cut_at_semicolon(at, true);
		at = tp_trim(at);
		if (!*at && (next || selection->nr))
			continue; /* a semicolon too many is forgiven */
		if (!parse_rule(&selection->rules[selection->nr++], at))
			return false;
	}
	return true;
}

struct selection *selection_new(const char *rules)
{
	struct selection *selection = calloc(1, sizeof(*selection));

	if (selection) {
		selection->text = strdup(rules);
		selection->given = strdup(rules);
	}
	if (!selection || !selection->text || !selection->given)
		fail_no_memory();
	else if (parse(selection))
		return selection;
	selection_free(selection);
	return NULL;
}

static void free_decisions(struct decisions *decisions)
{
	for (size_t id = 0; decisions && id < NR_EVENT_IDS; id++)
		tp_filter_program_free(decisions->by_id[id].program);
	free(decisions);
}

void selection_free(struct selection *selection)
{
	if (!selection)
		return;
	for (size_t i = 0; i < selection->nr; i++) {
		if (selection->rules[i].pattern)
			tp_pattern_free(selection->rules[i].pattern);
		if (selection->rules[i].filter)
			tp_filter_free(selection->rules[i].filter);
		tp_filter_error_free(&selection->rules[i].why);
	}
	for (size_t t = 0; t < selection->nr_traces; t++)
		free_decisions(selection->by_trace[t]);
	free(selection->by_trace);
	free(selection->rules);
	free(selection->text);
	free(selection->given);
	free(selection);
}

/* ---- Decisions ---- */

static struct tp_filter_program *compile(const struct tp_filter *filter, const struct tp_event *event, const struct trace *trace,
					 struct tp_filter_error *error)
{
	struct tp_filter_program *program = tp_filter_compile(filter, event, error);

	if (!program || trace->metadata.cpu_offset || !tp_filter_program_reads_cpu(program))
		return program;
	tp_filter_program_free(program);
	tp_filter_fail(error, 0, "the trace does not have the processor, as it was recorded without context=cpu");
	return NULL;
}

static void note_misfit(struct rule *rule, const char *full_name, struct tp_filter_error *error)
{
	rule->nr_misfits++;
	if (tp_filter_error_keep(&rule->why, error))
		snprintf(rule->misfit, sizeof(rule->misfit), "%s", full_name);
}

/* By this rule, if it matches and fits. */
static void apply(struct decision *decision, struct rule *rule, const char *full_name, const struct tp_event *described,
		  const struct trace *trace)
{
	struct tp_filter_program *program = NULL;
	struct tp_filter_error error;

	if (!tp_pattern_matches(rule->pattern, full_name))
		return;
	rule->nr_matches++;
	if (rule->filter) {
		program = compile(rule->filter, described, trace, &error);
		if (!program) {
			note_misfit(rule, full_name, &error);
			return;
		}
		rule->nr_fits++;
	}
	tp_filter_program_free(decision->program);
	decision->program = program;
	decision->is_wanted = true;
}

static void decide(struct selection *selection, struct decision *decision, const struct trace *trace, const struct event_format *format)
{
	struct tp_event *described = description_new(format);
	char *full_name = NULL;

	decision->is_made = true;
	if (!described)
		return;
	if (asprintf(&full_name, "%s:%s", described->system, described->name) < 0)
		fail_no_memory();
	else
		for (size_t i = 0; i < selection->nr; i++)
			apply(decision, &selection->rules[i], full_name, described, trace);
	free(full_name);
	description_free(described);
}

/* NULL, and a message: there is no memory. */
static struct decision *decision_of(struct selection *selection, size_t trace_nr, const struct trace *trace, const struct event_format *format)
{
	if (trace_nr >= selection->nr_traces) {
		struct decisions **more = reallocarray(selection->by_trace, trace_nr + 1, sizeof(*more));
		if (!more)
			return NULL;
		memset(more + selection->nr_traces, 0, (trace_nr + 1 - selection->nr_traces) * sizeof(*more));
		selection->by_trace = more;
		selection->nr_traces = trace_nr + 1;
	}
	struct decisions **decisions = &selection->by_trace[trace_nr];
	if (!*decisions)
		*decisions = calloc(1, sizeof(**decisions));
	if (!*decisions)
		return NULL;
	struct decision *decision = &(*decisions)->by_id[format->id];
	if (!decision->is_made)
		decide(selection, decision, trace, format);
	return decision;
}

bool selection_takes(struct selection *selection, size_t trace_nr, const struct trace *trace, const struct event_format *format)
{
	const struct decision *decision = decision_of(selection, trace_nr, trace, format);

	return decision && decision->is_wanted;
}

bool selection_wants(struct selection *selection, size_t trace_nr, const struct trace *trace, const struct event *event)
{
	const struct decision *decision = decision_of(selection, trace_nr, trace, event->format);

	if (!decision || !decision->is_wanted)
		return false;
	record_here(event);
	return !decision->program ||
	       tp_filter_accepts(decision->program, (const struct trace_entry *)(const void *)event->record, event->size);
}

/* ---- All that there are ---- */

/* Calls fct with the name of each event that there is, "system:name", until it returns true; whether it did. */
static bool any_event(const struct traces *traces, bool (*fct)(const char *full_name, void *data), void *data)
{
	for (size_t t = 0; t < traces->nr; t++) {
		for (uint32_t id = 0; id < NR_EVENT_IDS; id++) {
			const struct event_format *format = traces->traces[t].formats.by_id[id];
			char name[512];
			size_t len;
			if (!format)
				continue;
			const char *own = format_event_name(format, &len);
			snprintf(name, sizeof(name), "%s:%.*s", format->system, (int)len, own);
			if (fct(name, data))
				return true;
		}
	}
	return false;
}

static bool offer(const char *full_name, void *data)
{
	struct tp_nearest *nearest = data;

	tp_nearest_offer(nearest, strchr(nearest->word, ':') ? full_name : strchr(full_name, ':') + 1);
	return false;
}

static bool tell_unmatched(const char *events, const struct traces *traces)
{
	struct tp_nearest nearest = tp_nearest_to(events, strlen(events));

	if (events[strcspn(events, "*?[!,; ")] == '\0') /* a name, and no pattern */
		any_event(traces, offer, &nearest);
	return fail_msg("no event in '%s'%s matches '%s'%s", traces->nr ? traces->paths[0] : "", traces->nr > 1 ? " and the others" : "",
			events, tp_nearest_hint(&nearest, " (", ")"));
}

/* ---- Patterns of a list ---- */

struct listed {
	const struct traces *traces;
	const char *list;
};

static bool matches(const char *full_name, void *data)
{
	return tp_pattern_matches(data, full_name);
}

/* Of a list that matches something, a name that matches nothing is mistyped, or is of an event that was not recorded. */
static void check_glob(const char *glob, void *data)
{
	const struct listed *listed = data;
	const char *at = strstr(listed->list, glob);
	struct tp_pattern *pattern;
	int error;

	while (at && at > listed->list && strchr(TP_BLANKS, at[-1]))
		at--;
	if (!at || (at > listed->list && at[-1] == '!'))
		return;
	pattern = tp_pattern_new(glob, &error);
	if (!pattern)
		return;
	if (!any_event(listed->traces, matches, pattern))
		tell_unmatched(glob, listed->traces);
	tp_pattern_free(pattern);
}

static void check_globs(const struct selection *selection, const struct traces *traces)
{
	for (size_t i = 0; i < selection->nr; i++) {
		struct listed listed = {traces, tp_pattern_text(selection->rules[i].pattern)};
		tp_pattern_each(selection->rules[i].pattern, check_glob, &listed);
	}
}

/* A filter that fits none of its events is a mistake; one that does not fit some may be meant. */
static bool tell_misfits(const struct rule *rule)
{
	struct tp_buffer text = {.text = NULL};

	tp_filter_error_print_line(&text, tp_filter_text(rule->filter), &rule->why);
	const char *why = text.text ? text.text : "";
	if (!rule->nr_fits)
		fail_msg("the filter '%s' is wrong: %s", tp_filter_text(rule->filter), why);
	else if (rule->nr_misfits > 1)
		fail_msg("the filter does not fit %zu of the events, as '%s': %s", rule->nr_misfits, rule->misfit, why);
	else
		fail_msg("the filter does not fit '%s': %s", rule->misfit, why);
	tp_buffer_free(&text);
	return rule->nr_fits != 0;
}

bool selection_check(struct selection *selection, const struct traces *traces)
{
	bool any = false, good = true;

	for (size_t t = 0; t < traces->nr; t++) {
		const struct trace *trace = &traces->traces[t];
		for (uint32_t id = 0; id < NR_EVENT_IDS; id++) {
			const struct event_format *format = trace->formats.by_id[id];
			if (format && !decision_of(selection, t, trace, format))
				return fail_no_memory();
		}
	}
	for (size_t i = 0; i < selection->nr && good; i++) {
		any = any || selection->rules[i].nr_matches;
		if (selection->rules[i].nr_misfits)
			good = tell_misfits(&selection->rules[i]);
	}
	if (good && !any)
		return tell_unmatched(selection->given, traces);
	if (good)
		check_globs(selection, traces);
	return good;
}
