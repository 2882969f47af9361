/* SPDX-License-Identifier: MIT */
/*
 * enable.c - the open sinks, and which events are attached to which.
 *
 * The writer of a group's events is attached to a sink but once, as probes
 * are global to the name: with those of two modules, each record would be
 * there twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "events.h"

/* A call of tp_enable or tp_disable, for the modules that come later. */
struct rule {
	struct rule *next;
	bool enable;
	struct tp_pattern *pattern;
};

/* What is known of an open sink; struct tp_sink's reserved[0]. */
struct sink_state {
	struct sink_state *next;
	struct tp_sink *sink;
	struct rule *rules;         /* the last that matches decides */
	struct tp_event **attached; /* by group number */
	size_t nr_attached;
	bool used; /* something was attached at some time */
	uint8_t described[TP_NR_IDS / 8]; /* a bit an id */
};

static struct sink_state *sinks;

/* ---- Attaching ---- */

static bool is_described(const struct sink_state *state, const struct tp_event *event)
{
	return state->described[event->id / 8] & 1u << event->id % 8;
}

static void set_described(struct sink_state *state, const struct tp_event *event, bool described)
{
	uint8_t bit = (uint8_t)(1u << event->id % 8);
	uint8_t *byte = &state->described[event->id / 8];

	*byte = (uint8_t)(described ? *byte | bit : *byte & ~bit);
}

static struct tp_event *attached_of(const struct sink_state *state, const struct group *group)
{
	return group->number < state->nr_attached ? state->attached[group->number] : NULL;
}

static bool room_to_attach(struct sink_state *state, const struct group *group)
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
static struct tp_event *wanted_of(const struct sink_state *state, const struct group *group)
{
	bool enable = false;

	for (const struct rule *rule = state->rules; rule; rule = rule->next) {
		if (tp_pattern_matches(rule->pattern, group->name))
			enable = rule->enable;
	}
	if (!enable)
		return NULL;

	struct tp_event *attached = attached_of(state, group);
	struct tp_event *first = NULL;
	for (const struct loaded *loaded = group->events; loaded; loaded = loaded->group_next) {
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
 * Makes the group's attachment what the rules say, but for the sites, which
 * tp_registry_switch() switches. 1: it was switched on,
 * -1: off, 0: neither. -ENOMEM is in *error; another one stays without
 * further consequence (the user has registered the writer himself, for one).
 */
static int apply(struct sink_state *state, const struct group *group, int *error)
{
	struct tp_event *attached = attached_of(state, group);
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
				    group->name, state->sink->ops->name, strerror(-failed));
		if (failed)
			return result;
		state->attached[group->number] = wanted;
		state->used = true;
		result++;
	}
	return result;
}

static int apply_to_all(struct sink_state *state, int *error)
{
	int switched = 0;

	for (size_t i = 0; i < tp_groups.nr; i++)
		switched += apply(state, tp_groups.by_number[i], error);
	return switched;
}

/* ---- Modules ---- */

static int describe(struct sink_state *state, struct loaded *loaded)
{
	const struct tp_sink_ops *ops = state->sink->ops;

	loaded->fresh = !is_described(state, loaded->event);
	if (!loaded->fresh)
		return 0;
	int error = ops->describe ? ops->describe(state->sink, loaded->event) : 0;
	if (error) {
		loaded->fresh = false;
		tp_complain("event '%s' stays off in a %s sink, which can't describe it: %s", loaded->group->name,
			    ops->name, strerror(-error));
	} else {
		set_described(state, loaded->event, true);
	}
	return error;
}

static int described(struct tp_sink *sink)
{
	return sink->ops->described ? sink->ops->described(sink) : 0;
}

static void tell_sink(struct sink_state *state, struct tp_module *module)
{
	struct tp_event *event;
	struct loaded *loaded;
	int error = 0;

	for (size_t i = 0; (event = tp_event_at(module, &i));) {
		loaded = event->reserved[0];
		if (loaded)
			describe(state, loaded);
	}
	bool failed = described(state->sink) != 0;
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
	for (struct sink_state *state = sinks; state; state = state->next)
		tell_sink(state, module);
	tp_sites_switch_or_give_up();
}

void tp_sinks_follow(const struct group *group)
{
	int error = 0;

	for (struct sink_state *state = sinks; state; state = state->next)
		apply(state, group, &error);
	if (error)
		tp_complain("event '%s' is not recorded any more: out of memory", group->name);
}

/* ---- Sinks ---- */

int tp_sink_open(struct tp_sink *sink, const struct tp_sink_ops *ops)
{
	struct sink_state *state = tp_malloc(sizeof(*state));
	int error = 0;

	if (!state)
		return -ENOMEM;
	tp_start();
	*state = (struct sink_state){.sink = sink};
	*sink = (struct tp_sink){.ops = ops, .key = TP_NO_KEY};
	tp_lock(&tp_events_lock);
	for (struct loaded *loaded = tp_loaded_events; loaded && error != -ENOMEM; loaded = loaded->next)
		error = describe(state, loaded);
	if (error != -ENOMEM)
		error = described(sink);
	if (!error) {
		state->next = sinks;
		sinks = state;
		sink->reserved[0] = state;
	}
	tp_unlock(&tp_events_lock);
	if (error)
		free(state);
	return error;
}

static void rule_free(struct rule *rule)
{
	if (rule)
		tp_pattern_free(rule->pattern);
	free(rule);
}

static void state_free(struct sink_state *state)
{
	while (state->rules) {
		struct rule *rule = state->rules;
		state->rules = rule->next;
		rule_free(rule);
	}
	free(state->attached);
	free(state);
}

static void detach_all(struct sink_state *state)
{
	for (size_t i = 0; i < state->nr_attached; i++) {
		const struct tp_event *event = state->attached[i];
		if (event)
			tp_registry_remove(event->tracepoint->name, event->record, state->sink, false);
	}
	tp_registry_switch();
}

int tp_sink_close(struct tp_sink *sink)
{
	struct sink_state *state = sink ? sink->reserved[0] : NULL;
	struct sink_state **at = &sinks;
	int cancel_state;

	if (!state)
		return -EINVAL;
	if (urcu_bp_read_ongoing()) {
		tp_complain("tp_sink_close() was called from inside a probe, which would wait for itself for ever: "
			    "it did nothing");
		return -EDEADLK;
	}
	/* A sink that is half closed could not be closed again. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	tp_lock(&tp_events_lock);
	while (*at != state)
		at = &(*at)->next;
	*at = state->next;
	detach_all(state);
	tp_unlock(&tp_events_lock);
	tracepoint_synchronize_unregister();
	state_free(state);
	int error = sink->ops->close(sink);
	pthread_setcancelstate(cancel_state, NULL);
	return error;
}

bool tp_sink_used(struct tp_sink *sink)
{
	const struct sink_state *state = sink->reserved[0];

	tp_lock(&tp_events_lock);
	bool used = state->used;
	tp_unlock(&tp_events_lock);
	return used;
}

/* ---- Enabling ---- */

static struct rule *rule_new(const char *text, bool enable, int *error)
{
	struct rule *rule = tp_malloc(sizeof(*rule));

	*error = -ENOMEM;
	if (!rule)
		return NULL;
	*rule = (struct rule){.enable = enable, .pattern = tp_pattern_new(text, error)};
	if (rule->pattern)
		return rule;
	free(rule);
	return NULL;
}

/* A rule with the pattern of a later one never decides: without this, switching on and off would pile them up. */
static void drop_overruled(struct sink_state *state, const struct rule *by)
{
	struct rule **at = &state->rules;

	while (*at != by) {
		struct rule *rule = *at;
		if (!tp_pattern_same(rule->pattern, by->pattern)) {
			at = &rule->next;
			continue;
		}
		*at = rule->next;
		rule_free(rule);
	}
}

/* The number of events that the rule switched, either way. */
static int add_rule(struct sink_state *state, struct rule *rule)
{
	struct rule **at = &state->rules;
	int error = 0;

	while (*at)
		at = &(*at)->next;
	*at = rule;
	int switched = apply_to_all(state, &error);
	int failed = tp_registry_switch();
	if (!error)
		error = failed;
	if (error) {
		*at = NULL;
		rule_free(rule);
		int ignored = 0; /* what was on before is on still, and taking off can't fail */
		apply_to_all(state, &ignored);
		tp_registry_switch();
		return error;
	}
	drop_overruled(state, rule);
	return abs(switched);
}

static int enable_or_disable(struct tp_sink *sink, const char *patterns, bool enable)
{
	struct sink_state *state = sink ? sink->reserved[0] : NULL;
	int result;

	if (!state)
		return -EINVAL;
	if (enable && tp_forked_alone())
		return -EDEADLK;
	struct rule *rule = rule_new(patterns, enable, &result);
	if (!rule)
		return result;
	tp_lock(&tp_events_lock);
	result = add_rule(state, rule);
	tp_unlock(&tp_events_lock);
	tp_registry_settle_probes(); /* a program that switches on and off need not know of them */
	return result;
}

int tp_enable(struct tp_sink *sink, const char *patterns)
{
	return enable_or_disable(sink, patterns, true);
}

int tp_disable(struct tp_sink *sink, const char *patterns)
{
	return enable_or_disable(sink, patterns, false);
}

/* ---- Forks ---- */

void tp_sinks_before_fork(void)
{
	for (struct sink_state *state = sinks; state; state = state->next) {
		if (state->sink->ops->before_fork)
			state->sink->ops->before_fork(state->sink);
	}
}

void tp_sinks_after_fork(bool child)
{
	for (struct sink_state *state = sinks; state; state = state->next) {
		const struct tp_sink_ops *ops = state->sink->ops;
		void (*after)(struct tp_sink *sink) = child ? ops->after_fork_child : ops->after_fork_parent;

		if (child) /* what the parent lost is the parent's to tell */
			memset(state->sink->lost, 0, sizeof(state->sink->lost));
		if (after)
			after(state->sink);
	}
}
