/* SPDX-License-Identifier: MIT */
/*
 * events/view.c - what is open and what is enabled, for those who show it.
 */
#include <stdlib.h>
#include <string.h>

#include "events/attach.h"
#include "events/events.h"
#include "record/record.h"

/* The output that was opened next after the one with this serial; NULL: there is none. */
static const struct tp_sink_state *next_of(uint64_t serial)
{
	const struct tp_sink_state *next = NULL;

	for (const struct tp_sink_state *state = tp_sinks; state; state = state->next) {
		if (!state->hidden && state->serial > serial && (!next || state->serial < next->serial))
			next = state;
	}
	return next;
}

static struct tp_sink_view view_of(const struct tp_sink_state *state)
{
	struct tp_sink_view view = {
		.serial = state->serial,
		.kind = state->sink->ops->name,
		.sink = state->sink,
		.losses = &state->losses,
		.rules = state->rules,
		.is_on = tp_sink_is_on(state->sink),
	};

	for (size_t i = 0; i < tp_groups.nr; i++)
		view.nr_attached += tp_attached_is_on(state, tp_groups.by_number[i]);
	for (enum tp_lost cause = 0; cause < TP_NR_LOST; cause++)
		view.lost[cause] = tp_sink_lost_by(state->sink, cause);
	return view;
}

void tp_sinks_each(void (*fct)(const struct tp_sink_view *view, void *data), void *data)
{
	const struct tp_sink_state *state = NULL;

	tp_lock(&tp_events_lock);
	while ((state = next_of(state ? state->serial : 0))) {
		const struct tp_sink_view view = view_of(state);
		fct(&view, data);
	}
	tp_unlock(&tp_events_lock);
}

void tp_sink_view_rules(const struct tp_sink_view *view,
			void (*fct)(bool enable, const char *patterns, const char *filter, void *data), void *data)
{
	for (const struct tp_rule *rule = view->rules; rule; rule = rule->next)
		fct(rule->enable, tp_pattern_text(rule->pattern), rule->filter ? tp_filter_text(rule->filter) : NULL, data);
}

void tp_events_sinks(const struct tp_event *event, void (*fct)(uint64_t serial, void *data), void *data)
{
	const struct tp_loaded_event *loaded = event->reserved[0];
	const struct tp_sink_state *state = NULL;

	while (loaded && (state = next_of(state ? state->serial : 0))) {
		if (tp_attached_is_on(state, loaded->group))
			fct(state->serial, data);
	}
}

/* The group of a trigger's target may never have had an event. */
static bool any_group(bool (*is_it)(const void *wanted, const char *name), const void *wanted)
{
	bool any = false;

	tp_lock(&tp_events_lock);
	for (size_t i = 0; i < tp_groups.nr && !any; i++) {
		const struct tp_event_group *group = tp_groups.by_number[i];
		any = group->layouts && is_it(wanted, group->name);
	}
	tp_unlock(&tp_events_lock);
	return any;
}

static bool is_matched(const void *pattern, const char *name)
{
	return tp_pattern_matches(pattern, name);
}

static bool is_called(const void *wanted, const char *name)
{
	return strcmp(wanted, name) == 0;
}

bool tp_events_match(const char *patterns)
{
	int error;
	struct tp_pattern *pattern = tp_pattern_new(patterns, &error);
	const bool any = pattern && any_group(is_matched, pattern);

	tp_pattern_free(pattern);
	return any;
}

size_t tp_events_known(void)
{
	tp_lock(&tp_events_lock);
	const size_t nr = tp_groups.nr;
	tp_unlock(&tp_events_lock);
	return nr;
}

bool tp_events_know(const char *name)
{
	return any_group(is_called, name);
}

bool tp_patterns_meet(const struct tp_pattern *one, const struct tp_pattern *other)
{
	bool meet = tp_pattern_same(one, other);

	tp_lock(&tp_events_lock);
	for (size_t i = 0; i < tp_groups.nr && !meet; i++)
		meet = tp_pattern_matches(one, tp_groups.by_number[i]->name) &&
		       tp_pattern_matches(other, tp_groups.by_number[i]->name);
	tp_unlock(&tp_events_lock);
	return meet;
}
