/* SPDX-License-Identifier: MIT */
/*
 * events/enable.c - what is enabled on a sink.
 */
#include <errno.h>
#include <stdlib.h>

#include <tp/tp.h>

#include "base/readers.h"
#include "core/core.h"
#include "events/armed.h"
#include "events/attach.h"
#include "events/events.h"

static bool decides_any(const struct tp_sink_state *state, const struct tp_rule *rule)
{
	for (size_t i = 0; i < tp_groups.nr; i++) {
		if (tp_rule_has_program(rule, tp_groups.by_number[i], tp_attached_program(state, tp_groups.by_number[i])))
			return true;
	}
	return false;
}

/*
 * A rule with the patterns of a later one never decides: without this, switching on and off would pile them up. If the
 * later one has a filter, the earlier ones decide where that doesn't fit; of these, filters that do so nowhere go.
 */
static void drop_overruled(struct tp_sink_state *state, const struct tp_rule *by)
{
	struct tp_rule **at = &state->rules;

	while (*at != by) {
		struct tp_rule *rule = *at;
		const bool never = !by->filter || (rule->filter && !decides_any(state, rule));
		if (!never || !tp_pattern_same(rule->pattern, by->pattern)) {
			at = &rule->next;
			continue;
		}
		*at = rule->next;
		tp_rule_retire(rule);
	}
}

/* The last, which goes. */
static void take_back(struct tp_sink_state *state, struct tp_rule **at)
{
	struct tp_rule *rule = *at;
	int ignored = 0; /* what was on before is on still, and taking off can't fail */

	*at = NULL;
	for (size_t i = 0; i < state->nr_attached; i++) {
		if (state->attached[i].armed)
			tp_armed_take_back(state->attached[i].armed, rule);
	}
	tp_attach_by_rules(state, &ignored);
	tp_registry_switch();
	tp_rule_retire(rule);
}

/*
 * How many events have the rule's filter now; or -EINVAL if it fits none of those that match, and the report says why.
 */
static int count_filtered(const struct tp_sink_state *state, struct tp_rule *rule, struct tp_enable_report *report)
{
	struct tp_filter_error error, first = {.error = 0};
	const char *name = NULL;
	int nr = 0, misfits = 0;

	for (size_t i = 0; i < tp_groups.nr; i++) {
		const struct tp_event_group *group = tp_groups.by_number[i];
		const struct tp_event *event = tp_attachable_of(state, group);
		if (!event)
			continue;
		nr += tp_rule_has_program(rule, group, tp_attached_program(state, group));
		if (!tp_rule_misfits(rule, group, event, &error))
			continue;
		misfits++;
		if (tp_filter_error_keep(&first, &error))
			name = group->name;
	}
	const bool fits_none = misfits && !nr && !report->waits;
	if (fits_none && !report->in_a_line)
		tp_filter_error_print(&report->text, tp_filter_text(rule->filter), &first);
	else if (misfits)
		tp_rule_tell_misfits(&report->text, rule, state->hidden, misfits, name, &first);
	tp_filter_error_free(&first);
	return fits_none ? -EINVAL : nr;
}

/* The number of events that the rule switched, either way; or for a filter's, that have it. */
static int add_rule(struct tp_sink_state *state, struct tp_rule *rule, struct tp_enable_report *report)
{
	static uint64_t last_number; /* under tp_events_lock */
	struct tp_rule **at = &state->rules;
	int error = 0;

	while (*at)
		at = &(*at)->next;
	rule->number = ++last_number;
	*at = rule;
	int result = abs(tp_attach_by_rules(state, &error));
	int failed = tp_registry_switch();
	if (!error)
		error = failed;
	if (!error && rule->filter) {
		result = count_filtered(state, rule, report);
		error = result < 0 ? result : 0;
	}
	if (error) {
		take_back(state, at);
		return error;
	}
	drop_overruled(state, rule);
	return result;
}

static void tell_wrong(struct tp_enable_report *report, const char *filter, struct tp_filter_error *wrong, int error)
{
	if (wrong->error == -EINVAL && report->in_a_line)
		tp_filter_error_print_line(&report->text, filter, wrong);
	else if (wrong->error == -EINVAL)
		tp_filter_error_print(&report->text, filter, wrong);
	else if (error == -EINVAL && !report->in_a_line)
		tp_buffer_printf(&report->text, "no list of patterns; write for example sched:*,!sched:sched_wakeup");
	tp_filter_error_free(wrong);
}

static int enable_or_disable(struct tp_sink *sink, const char *patterns, const char *filter, bool enable,
			     struct tp_enable_report *report)
{
	struct tp_sink_state *state = sink ? sink->reserved[0] : NULL;
	struct tp_filter_error wrong;
	int result;

	if (!state)
		return -EINVAL;
	if (enable && tp_tracing_lost_in_fork())
		return -EDEADLK;
	struct tp_rule *rule = tp_rule_new(patterns, filter, enable, &result, &wrong);
	if (!rule) {
		tell_wrong(report, filter, &wrong, result);
		return result;
	}
	tp_lock(&tp_events_lock);
	const bool open = !state->closing;
	result = open ? add_rule(state, rule, report) : -EINVAL;
	tp_unlock(&tp_events_lock);
	if (!open)
		tp_rule_free(rule);
	tp_retired_settle(); /* a program that switches on and off need not know of what readers may still use */
	return result;
}

int tp_enable_filtered(struct tp_sink *sink, const char *patterns, const char *filter, struct tp_enable_report *report)
{
	return enable_or_disable(sink, patterns, filter, true, report);
}

int tp_enable_if(struct tp_sink *sink, const char *patterns, const char *filter, char **error)
{
	struct tp_enable_report report = {.in_a_line = false};
	const int result = tp_enable_filtered(sink, patterns, filter, &report);

	if (error)
		*error = report.text.text;
	else
		tp_buffer_free(&report.text);
	return result;
}

static int without_filter(struct tp_sink *sink, const char *patterns, bool enable)
{
	struct tp_enable_report report = {.in_a_line = true};
	const int result = enable_or_disable(sink, patterns, NULL, enable, &report);

	tp_buffer_free(&report.text);
	return result;
}

int tp_enable(struct tp_sink *sink, const char *patterns)
{
	return without_filter(sink, patterns, true);
}

int tp_disable(struct tp_sink *sink, const char *patterns)
{
	return without_filter(sink, patterns, false);
}

/* tp_enable() keeps the first lock until all is switched, register the second one. */
void tp_enable_wait(void)
{
	tp_lock(&tp_events_lock);
	tp_registry_switch();
	tp_unlock(&tp_events_lock);
}
