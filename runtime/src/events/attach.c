/* SPDX-License-Identifier: MIT */
/*
 * events/attach.c - the open sinks, and which events are attached to which.
 *
 * The writer of a group's events is attached to a sink but once, as probes
 * are global to the name: with those of two modules, each record would be
 * there twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/memory.h"
#include "base/message.h"
#include "core/core.h"
#include "events/attach.h"

struct tp_sink_state *tp_sinks;

/* ---- Attaching ---- */

static bool is_described(const struct tp_sink_state *state, const struct tp_event *event)
{
	return state->described[event->id / 8] & 1u << event->id % 8;
}

static void set_described(struct tp_sink_state *state, const struct tp_event *event, bool described)
{
	uint8_t bit = (uint8_t)(1u << event->id % 8);
	uint8_t *byte = &state->described[event->id / 8];

	*byte = (uint8_t)(described ? *byte | bit : *byte & ~bit);
}

struct tp_event *tp_attached_of(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	return group->number < state->nr_attached ? state->attached[group->number] : NULL;
}

static bool room_to_attach(struct tp_sink_state *state, const struct tp_event_group *group)
{
	if (group->number < state->nr_attached)
		return true;
	struct tp_event **attached = tp_malloc(tp_groups.room * sizeof(struct tp_event *));
	if (!attached)
		return false;
	memset(attached, 0, tp_groups.room * sizeof(struct tp_event *));
	if (state->nr_attached)
		memcpy(attached, state->attached, state->nr_attached * sizeof(struct tp_event *));
	free(state->attached);
	state->attached = attached;
	state->nr_attached = tp_groups.room;
	return true;
}

/* The event of the group that should be attached: one that is already, if any. */
static struct tp_event *wanted_of(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	bool enable = false;

	for (const struct tp_rule *rule = state->rules; rule; rule = rule->next) {
		if (tp_pattern_matches(rule->pattern, group->name))
			enable = rule->enable;
	}
	if (!enable)
		return NULL;

	struct tp_event *attached = tp_attached_of(state, group);
	struct tp_event *first = NULL;
	for (const struct tp_loaded_event *loaded = group->events; loaded; loaded = loaded->group_next) {
		if (loaded->event == attached)
			return attached;
		if (!first && is_described(state, loaded->event))
			first = loaded->event;
	}
	return first;
}

static int attach(struct tp_sink *sink, const struct tp_event *event)
{
	const struct tracepoint_func probe = {
		.func = event->record,
		.data = sink,
		.prio = TRACEPOINT_DEFAULT_PRIO,
		.gate = sink->ops->gate ? sink->ops->gate(sink, event) : NULL,
	};

	return tp_registry_add(event->tracepoint->name, event->tracepoint->proto, &probe, false);
}

/*
 * Makes the group's attachment what the rules say. 1: it was switched on,
 * -1: off, 0: neither. -ENOMEM is in *error; another one stays without
 * further consequence (the user has registered the writer himself, for one).
 */
static int apply(struct tp_sink_state *state, const struct tp_event_group *group, int *error)
{
	struct tp_event *attached = tp_attached_of(state, group);
	struct tp_event *wanted = wanted_of(state, group);
	int result = 0;

	if (wanted == attached)
		return 0;
	/* The writer of another module takes over: while it does, the event may be hit. */
	if (wanted && attached &&
	    tp_registry_replace(wanted->tracepoint, attached->record, wanted->record, state->sink) == 0) {
		state->attached[group->number] = wanted;
		return 0;
	}
	if (attached) {
		tp_registry_remove(attached->tracepoint->name, attached->record, state->sink, false);
		state->attached[group->number] = NULL;
		result--;
	}
	if (wanted) {
		int failed = room_to_attach(state, group) ? attach(state->sink, wanted) : -ENOMEM;
		if (failed == -ENOMEM)
			*error = failed;
		else if (failed && failed != -EEXIST)
			tp_complain("event '%s' stays off in a %s sink: its tracepoint has refused it: %s",
				    group->name, state->sink->ops->name, tp_strerror(-failed));
		if (failed)
			return result;
		state->attached[group->number] = wanted;
		state->used = true;
		result++;
	}
	return result;
}

int tp_attach_by_rules(struct tp_sink_state *state, int *error)
{
	int switched = 0;

	for (size_t i = 0; i < tp_groups.nr; i++)
		switched += apply(state, tp_groups.by_number[i], error);
	return switched;
}

void tp_detach_all(struct tp_sink_state *state)
{
	for (size_t i = 0; i < state->nr_attached; i++) {
		const struct tp_event *event = state->attached[i];
		if (event)
			tp_registry_remove(event->tracepoint->name, event->record, state->sink, false);
	}
	tp_registry_switch();
}

/* ---- Describing ---- */

static int describe(struct tp_sink_state *state, struct tp_loaded_event *loaded)
{
	const struct tp_sink_ops *ops = state->sink->ops;

	loaded->fresh = !is_described(state, loaded->event);
	if (!loaded->fresh)
		return 0;
	int error = ops->describe_event ? ops->describe_event(state->sink, loaded->event) : 0;
	if (error) {
		loaded->fresh = false;
		tp_complain("event '%s' stays off in a %s sink, which can't describe it: %s", loaded->group->name,
			    ops->name, tp_strerror(-error));
	} else {
		set_described(state, loaded->event, true);
	}
	return error;
}

static int write_descriptions(struct tp_sink *sink)
{
	return sink->ops->write_descriptions ? sink->ops->write_descriptions(sink) : 0;
}

int tp_sink_describe_all(struct tp_sink_state *state)
{
	int error = 0;

	for (struct tp_loaded_event *loaded = tp_loaded_events; loaded && error != -ENOMEM; loaded = loaded->next)
		error = describe(state, loaded);
	return error == -ENOMEM ? error : write_descriptions(state->sink);
}

static void tell_sink(struct tp_sink_state *state, struct tp_module *module)
{
	struct tp_event *event;
	struct tp_loaded_event *loaded;
	int error = 0;

	for (size_t i = 0; (event = tp_event_at(module, &i));) {
		loaded = event->reserved[0];
		if (loaded)
			describe(state, loaded);
	}
	bool failed = write_descriptions(state->sink) != 0;
	for (size_t i = 0; (event = tp_event_at(module, &i));) {
		loaded = event->reserved[0];
		if (!loaded)
			continue;
		if (failed && loaded->fresh)
			set_described(state, loaded->event, false);
		apply(state, loaded->group, &error);
	}
	if (failed)
		tp_complain("the events of a module that was loaded stay off in a %s sink, which can't describe them",
			    state->sink->ops->name);
	if (error)
		tp_complain("some events of a module that was loaded are not recorded: out of memory");
}

void tp_sinks_load(struct tp_module *module)
{
	size_t first = 0;

	if (!tp_event_at(module, &first))
		return;
	for (struct tp_sink_state *state = tp_sinks; state; state = state->next)
		tell_sink(state, module);
	tp_sites_switch_or_give_up();
}

void tp_sinks_follow(const struct tp_event_group *group)
{
	int error = 0;

	for (struct tp_sink_state *state = tp_sinks; state; state = state->next)
		apply(state, group, &error);
	if (error)
		tp_complain("event '%s' is not recorded any more: out of memory", group->name);
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
			state->held = 0;
		}
		if (after)
			after(state->sink);
	}
}

void tp_attach_start(void)
{
	static struct tp_fork_hook events_hook = {.rank = TP_RANK_EVENTS, .lock = &tp_events_lock.mutex};
	static struct tp_fork_hook sinks_hook = {.rank = TP_RANK_SINK, .before = before_fork, .after = after_fork};

	tp_fork_register(&events_hook);
	tp_fork_register(&sinks_hook);
}
