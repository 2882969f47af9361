/* SPDX-License-Identifier: MIT */
/*
 * events/attach.c - which events are attached to which sinks.
 *
 * The writer of a group's events is attached to a sink but once, as probes
 * are global to the name: with those of two modules, each record would be
 * there twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/message.h"
#include "base/text.h"
#include "core/core.h"
#include "events/attach.h"

struct tp_sink_state *tp_sinks;

/* ---- Attaching ---- */

static struct tp_attached *slot_of(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	return group->number < state->nr_attached ? &state->attached[group->number] : NULL;
}

struct tp_event *tp_attached_of(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	const struct tp_attached *attached = slot_of(state, group);

	return attached ? attached->event : NULL;
}

bool tp_attached_is_on(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	const struct tp_attached *attached = slot_of(state, group);

	return attached && attached->event && !(attached->armed && tp_armed_is_off(attached->armed));
}

const struct tp_filter_program *tp_attached_program(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	const struct tp_attached *attached = slot_of(state, group);

	return attached && attached->filtering ? attached->filtering->program : NULL;
}

struct tp_attached *tp_attached_room(struct tp_sink_state *state, const struct tp_event_group *group)
{
	if (group->number < state->nr_attached)
		return slot_of(state, group);
	struct tp_attached *attached = tp_malloc(tp_groups.room * sizeof(*attached));
	if (!attached)
		return NULL;
	memset(attached, 0, tp_groups.room * sizeof(*attached));
	if (state->nr_attached)
		memcpy(attached, state->attached, state->nr_attached * sizeof(*attached));
	free(state->attached);
	state->attached = attached;
	state->nr_attached = tp_groups.room;
	return slot_of(state, group);
}

struct tp_event *tp_attachable_of(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	const struct tp_event *attached = tp_attached_of(state, group);
	struct tp_event *first = NULL;

	for (const struct tp_loaded_event *loaded = group->events; loaded; loaded = loaded->group_next) {
		if (loaded->event == attached)
			return loaded->event;
		if (!first && tp_sink_knows(state, loaded->event))
			first = loaded->event;
	}
	return first;
}

/* What should be attached of a group. */
struct wanted {
	struct tp_event *event; /* NULL: nothing */
	const struct tp_filter_program *program; /* NULL: without a filter */
	const struct tp_armed *armed;              /* NULL: no trigger switches it */
	const struct tp_rule *rule;              /* that decides; NULL: none is about it */
};

static bool is_enabled(const struct wanted *wanted)
{
	return wanted->rule && wanted->rule->enable;
}

/* By the rules. *error becomes -ENOMEM where that can't be told. */
static struct wanted wanted_of(const struct tp_sink_state *state, const struct tp_event_group *group, int *error)
{
	struct wanted wanted = {.event = tp_attachable_of(state, group)};
	const struct tp_filter_program *program;

	for (struct tp_rule *rule = state->rules; wanted.event && rule; rule = rule->next) {
		if (!tp_rule_is_about(rule, group, wanted.event, &program, error))
			continue;
		wanted.rule = rule;
		wanted.program = rule->enable ? program : NULL;
	}
	return wanted;
}

bool tp_attach_is_wanted(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	int ignored;
	const struct wanted wanted = wanted_of(state, group, &ignored);

	return is_enabled(&wanted);
}

/* Triggers want an event to be attached that is off. A rule that came after them switches it. */
static void heed_triggers(const struct tp_sink_state *state, const struct tp_event_group *group, struct wanted *wanted)
{
	struct tp_attached *attached = slot_of(state, group);

	wanted->armed = attached ? attached->armed : NULL;
	if (wanted->armed && wanted->rule)
		tp_armed_follow(attached->armed, wanted->rule);
	if (!wanted->armed && !is_enabled(wanted))
		wanted->event = NULL;
}

/* The event's writer as a probe. filtering may be NULL. */
static struct tracepoint_func probe_of(const struct tp_sink_state *state, struct tp_filtering *filtering,
				       const struct tp_event *event)
{
	struct tp_sink *sink = state->sink;

	return (struct tracepoint_func){
		.func = event->record,
		.data = filtering ? &filtering->head : sink,
		.prio = state->priority,
		.enable_flag = sink->ops->enable_flag ? sink->ops->enable_flag(sink, event) : NULL,
	};
}

/* False: no memory. */
static bool filtering_for(const struct tp_sink_state *state, const struct wanted *wanted, struct tp_filtering **filtering)
{
	const bool needed = wanted->program || wanted->armed;

	*filtering = needed ? tp_filtering_new(state->sink, wanted->program, wanted->armed) : NULL;
	return !needed || *filtering;
}

static void *data_of(const struct tp_sink_state *state, const struct tp_attached *attached)
{
	return attached->filtering ? &attached->filtering->head : state->sink;
}

static void set_attached(struct tp_attached *attached, struct tp_event *event, struct tp_filtering *filtering)
{
	if (attached->filtering && attached->filtering != filtering)
		tp_filtering_retire(attached->filtering);
	attached->event = event;
	attached->filtering = filtering;
}

static void detach(const struct tp_sink_state *state, struct tp_attached *attached)
{
	const struct tp_event *event = attached->event;

	tp_registry_remove(event->tracepoint->name, event->record, data_of(state, attached), false);
	set_attached(attached, NULL, NULL);
}

/*
 * What is wanted takes the place of what is attached, while the event may be hit: each record goes the old way or the
 * new one. 0 or an error, and then nothing has changed.
 */
static int replace(const struct tp_sink_state *state, struct tp_attached *attached, const struct wanted *wanted)
{
	struct tp_filtering *filtering;

	if (!filtering_for(state, wanted, &filtering))
		return -ENOMEM;
	const struct tracepoint_func by = probe_of(state, filtering, wanted->event);
	int error = tp_registry_replace(attached->event->tracepoint, attached->event->record, data_of(state, attached), &by);
	if (error)
		tp_filtering_free(filtering);
	else
		set_attached(attached, wanted->event, filtering);
	return error;
}

/* The same event, but for its filter. Going from a filter to another, or to none, needs no memory. */
static int change_filter(const struct tp_sink_state *state, struct tp_attached *attached, const struct wanted *wanted)
{
	if (!attached->filtering || attached->filtering->armed != wanted->armed)
		return replace(state, attached, wanted);
	tp_filtering_set(attached->filtering, wanted->program);
	if (!wanted->program && !wanted->armed)
		replace(state, attached, wanted); /* else it stays, and passes all on */
	return 0;
}

static int attach(struct tp_sink_state *state, const struct tp_event_group *group, const struct wanted *wanted)
{
	struct tp_attached *attached = tp_attached_room(state, group);
	struct tp_filtering *filtering;

	if (!attached || !filtering_for(state, wanted, &filtering))
		return -ENOMEM;
	const struct tracepoint_func probe = probe_of(state, filtering, wanted->event);
	int error = tp_registry_add(wanted->event->tracepoint->name, wanted->event->tracepoint->proto, &probe, false);
	if (error) {
		tp_filtering_free(filtering);
		return error;
	}
	set_attached(attached, wanted->event, filtering);
	state->used = true;
	return 0;
}

/* Nothing of what is attached need change, but maybe the filter. */
static void keep(const struct tp_sink_state *state, struct tp_attached *attached, const struct wanted *wanted, int *error)
{
	const struct tp_filtering *filtering = attached->filtering;
	const struct tp_filter_program *program = filtering ? filtering->program : NULL;
	const struct tp_armed *armed = filtering ? filtering->armed : NULL;

	if ((program != wanted->program || armed != wanted->armed) && change_filter(state, attached, wanted) == -ENOMEM)
		*error = -ENOMEM;
}

static void change(struct tp_sink_state *state, const struct tp_event_group *group, const struct wanted *wanted, int *error)
{
	struct tp_attached *attached = slot_of(state, group);
	const bool is_attached = attached && attached->event;

	if (is_attached && wanted->event == attached->event) {
		keep(state, attached, wanted, error);
		return;
	}
	/* The writer of another module takes over: while it does, the event may be hit. */
	if (is_attached && wanted->event && replace(state, attached, wanted) == 0)
		return;
	if (is_attached)
		detach(state, attached);
	const int failed = wanted->event ? attach(state, group, wanted) : 0;
	if (failed == -ENOMEM)
		*error = failed;
	else if (failed && failed != -EEXIST)
		tp_complain("event '%s' stays off in a %s output: its tracepoint has refused it: %s",
			    group->name, state->sink->ops->name, tp_strerror(-failed));
}

int tp_attach_group(struct tp_sink_state *state, const struct tp_event_group *group, int *error)
{
	const bool was_on = tp_attached_is_on(state, group);
	int failed = 0;

	struct wanted wanted = wanted_of(state, group, &failed);
	if (failed)
		*error = failed;
	heed_triggers(state, group, &wanted);
	change(state, group, &wanted, error);
	return tp_attached_is_on(state, group) - was_on;
}

int tp_attach_by_rules(struct tp_sink_state *state, int *error)
{
	int switched = 0;

	for (size_t i = 0; i < tp_groups.nr; i++)
		switched += tp_attach_group(state, tp_groups.by_number[i], error);
	return switched;
}

void tp_detach_all(struct tp_sink_state *state)
{
	for (size_t i = 0; i < state->nr_attached; i++) {
		struct tp_attached *attached = &state->attached[i];
		if (attached->event)
			detach(state, attached);
	}
	tp_registry_switch();
}

/* ---- Forks ---- */

static void before_fork(void)
{
	for (struct tp_sink_state *state = tp_sinks; state; state = state->next) {
		if (state->sink->ops->before_fork)
			state->sink->ops->before_fork(state->sink);
	}
}

static void after_fork(bool child)
{
	for (struct tp_sink_state *state = tp_sinks; state; state = state->next) {
		const struct tp_sink_ops *ops = state->sink->ops;
		void (*after)(struct tp_sink *sink) = child ? ops->after_fork_child : ops->after_fork_parent;

		if (child) { /* what the parent lost is the parent's to tell; and its threads that hold the sink are not here */
			memset(state->sink->lost, 0, sizeof(state->sink->lost));
			tp_losses_in_child(&state->losses, state->sink);
			state->held = 0;
		}
		if (after)
			after(state->sink);
	}
}

void tp_attach_start(void)
{
	static struct tp_fork_hook hook = {.rank = TP_RANK_SINK, .before = before_fork, .after = after_fork};

	tp_fork_register(&hook);
}
