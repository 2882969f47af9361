/* SPDX-License-Identifier: MIT */
/*
 * events.c - the events of the loaded modules, their ids, and which sinks
 * they are attached to.
 *
 * Several modules may carry one event (of the same system and name). They
 * form a group. Its writer is attached to a sink but once, as probes are
 * global to the name: with two, each record would be there twice.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <urcu/urcu-bp.h>

#include <tp/tp.h>

#include "internal.h"

#define NR_IDS 65536u
#define GROUP_BUCKETS 1024

/* A layout that an event was seen with, and the id that it keeps for ever. */
struct layout {
	struct layout *next;
	uint16_t id;
	char text[]; /* all that makes two layouts different */
};

/* An event of a loaded module; struct tp_event's reserved[0]. */
struct loaded {
	struct loaded *next;       /* of all, by id */
	struct loaded *group_next; /* of the group, by time of loading */
	struct group *group;
	struct tp_event *event;
	unsigned int loads; /* more than 1 where two modules announce one and the same (exported) event */
	bool fresh;         /* to a sink that is being told of new events */
};

/* Never freed: its module may come back. */
struct group {
	struct group *next; /* of the same hash */
	size_t number;
	struct layout *layouts;
	struct loaded *events;
	char name[]; /* "system:event" */
};

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
	uint8_t described[NR_IDS / 8]; /* a bit an id */
};

static struct loaded *all, *last; /* by id */
static struct group *groups[GROUP_BUCKETS];
static struct group **group_by_number;
static size_t nr_groups, room_for_groups;
static uint16_t last_id;
static struct sink_state *sinks;

/* ---- Groups, layouts, ids ---- */

static bool numbered(struct group *group)
{
	if (nr_groups == room_for_groups) {
		size_t room = room_for_groups ? 2 * room_for_groups : 64;
		struct group **grown = tp_malloc(room * sizeof(*grown));
		if (!grown)
			return false;
		if (nr_groups)
			memcpy(grown, group_by_number, nr_groups * sizeof(*grown));
		free(group_by_number);
		group_by_number = grown;
		room_for_groups = room;
	}
	group->number = nr_groups;
	group_by_number[nr_groups++] = group;
	return true;
}

/* The group of "system:event", made where it is new. NULL: no memory. */
static struct group *group_of(const char *system, const char *event)
{
	size_t system_len = strlen(system);
	size_t event_size = strlen(event) + 1;
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (const char *c = event; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	struct group **bucket = &groups[hash % GROUP_BUCKETS];
	struct group *group = *bucket;
	for (; group; group = group->next) {
		if (strncmp(group->name, system, system_len) == 0 && group->name[system_len] == ':' &&
		    strcmp(group->name + system_len + 1, event) == 0)
			return group;
	}

	group = tp_malloc(sizeof(*group) + system_len + 1 + event_size);
	if (!group)
		return NULL;
	*group = (struct group){.next = *bucket};
	memcpy(group->name, system, system_len);
	group->name[system_len] = ':';
	memcpy(group->name + system_len + 1, event, event_size);
	if (!numbered(group)) {
		free(group);
		return NULL;
	}
	*bucket = group;
	return group;
}

static void describe_field(struct tp_buffer *b, const struct tp_event_field *field)
{
	tp_buffer_printf(b, "%s %s %d %d %u %u %u %u %d %d\n", field->type, field->name, (int)field->kind,
			 (int)field->type_class, field->offset, field->size, field->element_size,
			 field->element_align, field->is_signed, field->is_char);
	for (const struct trace_print_flags *s = field->symbols; s && s->name; s++)
		tp_buffer_printf(b, "%lx %s\n", s->mask, s->name);
}

static void describe_layout(struct tp_buffer *b, const struct tp_event_class *class)
{
	for (uint32_t i = 0; i < class->nr_fields; i++)
		describe_field(b, &class->fields[i]);
	tp_buffer_printf(b, "%u\n%s", class->fixed_size, class->print_fmt ? class->print_fmt : "");
}

static struct layout *layout_create(struct group *group, const struct tp_buffer *text)
{
	if (last_id == NR_IDS - 1) {
		tp_complain("event '%s' can't be recorded: all %u event ids of the process are taken", group->name,
			    NR_IDS - 1);
		return NULL;
	}
	struct layout *layout = tp_malloc(sizeof(*layout) + text->len + 1);
	if (!layout) {
		tp_complain("event '%s' can't be recorded: out of memory", group->name);
		return NULL;
	}
	layout->id = ++last_id;
	memcpy(layout->text, text->text, text->len + 1);
	layout->next = group->layouts;
	group->layouts = layout;
	return layout;
}

/* The id of the event's layout; 0 and a message where there is none to be had. */
static uint16_t id_of(struct group *group, const struct tp_event *event)
{
	struct tp_buffer text = {.text = NULL};
	struct layout *layout = group->layouts;

	describe_layout(&text, event->event_class);
	if (text.failed) {
		tp_complain("event '%s' can't be recorded: out of memory", group->name);
		layout = NULL;
	} else {
		while (layout && strcmp(layout->text, text.text) != 0)
			layout = layout->next;
		if (!layout)
			layout = layout_create(group, &text);
	}
	tp_buffer_free(&text);
	return layout ? layout->id : 0;
}

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
	struct tp_event **attached = tp_malloc(room_for_groups * sizeof(struct tp_event *));
	if (!attached)
		return false;
	memset(attached, 0, room_for_groups * sizeof(struct tp_event *));
	if (state->nr_attached)
		memcpy(attached, state->attached, state->nr_attached * sizeof(struct tp_event *));
	free(state->attached);
	state->attached = attached;
	state->nr_attached = room_for_groups;
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

/*
 * Makes the group's attachment what the rules say. 1: it was switched on,
 * -1: off, 0: neither. -ENOMEM is in *error; another error stays without
 * consequence (the user has registered the writer himself, for one).
 */
static int apply(struct sink_state *state, const struct group *group, int *error)
{
	struct tp_event *attached = attached_of(state, group);
	struct tp_event *wanted = wanted_of(state, group);
	int result = 0;

	if (wanted == attached)
		return 0;
	if (attached) {
		tp_probe_unregister(attached->tracepoint->name, attached->record, state->sink);
		state->attached[group->number] = NULL;
		result--;
	}
	if (wanted) {
		int failed = room_to_attach(state, group)
				     ? tp_probe_register(wanted->tracepoint->name, wanted->tracepoint->proto,
						       wanted->record, state->sink, TRACEPOINT_DEFAULT_PRIO)
				     : -ENOMEM;
		if (failed == -ENOMEM)
			*error = failed;
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

	for (size_t i = 0; i < nr_groups; i++)
		switched += apply(state, group_by_number[i], error);
	return switched;
}

/* ---- Modules ---- */

static void link_by_id(struct loaded *loaded)
{
	struct loaded **at = &all;

	if (last && last->event->id <= loaded->event->id)
		at = &last->next; /* a new id is the highest */
	while (*at && (*at)->event->id <= loaded->event->id)
		at = &(*at)->next;
	loaded->next = *at;
	*at = loaded;
	if (!loaded->next)
		last = loaded;
}

static void unlink_by_id(struct loaded *loaded)
{
	struct loaded **at = &all;
	struct loaded *previous = NULL;

	while (*at != loaded) {
		previous = *at;
		at = &previous->next;
	}
	*at = loaded->next;
	if (last == loaded)
		last = previous;
}

static void event_load(struct tp_event *event)
{
	struct loaded *loaded = event->reserved[0];

	if (loaded) {
		loaded->loads++;
		return;
	}
	if (!tp_registry_has(event->tracepoint)) /* refused, and said so */
		return;
	struct group *group = group_of(event->system, event->name);
	loaded = group ? tp_malloc(sizeof(*loaded)) : NULL;
	if (!loaded) {
		tp_complain("event '%s:%s' can't be recorded: out of memory", event->system, event->name);
		return;
	}
	event->id = id_of(group, event);
	if (!event->id) {
		free(loaded);
		return;
	}
	*loaded = (struct loaded){.group = group, .event = event, .loads = 1};
	event->reserved[0] = loaded;
	link_by_id(loaded);
	struct loaded **at = &group->events;
	while (*at)
		at = &(*at)->group_next;
	*at = loaded;
}

static void event_unload(struct tp_event *event)
{
	struct loaded *loaded = event->reserved[0];
	int error = 0;

	if (!loaded || --loaded->loads)
		return;
	struct loaded **at = &loaded->group->events;
	while (*at != loaded)
		at = &(*at)->group_next;
	*at = loaded->group_next;
	/* Off goes this one's writer, on another's of the group. */
	for (struct sink_state *state = sinks; state; state = state->next)
		apply(state, loaded->group, &error);
	if (error)
		tp_complain("event '%s' is not recorded any more: out of memory", loaded->group->name);
	unlink_by_id(loaded);
	event->reserved[0] = NULL;
	free(loaded);
	/* The id stays until the readers are gone: a record may be on its way. */
}

static int describe(struct sink_state *state, struct loaded *loaded)
{
	const struct tp_sink_ops *ops = state->sink->ops;

	loaded->fresh = !is_described(state, loaded->event);
	if (!loaded->fresh)
		return 0;
	int error = ops->describe ? ops->describe(state->sink, loaded->event) : 0;
	if (error)
		loaded->fresh = false;
	else
		set_described(state, loaded->event, true);
	return error;
}

static int described(struct tp_sink *sink)
{
	return sink->ops->described ? sink->ops->described(sink) : 0;
}

static void tell_sink(struct sink_state *state, struct tp_module *module)
{
	struct loaded *loaded;
	int error = 0;

	for (struct tp_event **at = module->events; at < module->events_end; at++) {
		loaded = *at ? (*at)->reserved[0] : NULL;
		if (loaded && describe(state, loaded) != 0)
			tp_complain("event '%s' stays off in a %s sink, which can't describe it", loaded->group->name,
				    state->sink->ops->name);
	}
	bool failed = described(state->sink) != 0;
	for (struct tp_event **at = module->events; at < module->events_end; at++) {
		loaded = *at ? (*at)->reserved[0] : NULL;
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

void tp_events_load(struct tp_module *module)
{
	for (struct tp_event **at = module->events; at < module->events_end; at++) {
		if (*at)
			event_load(*at);
	}
	if (module->events == module->events_end)
		return;
	for (struct sink_state *state = sinks; state; state = state->next)
		tell_sink(state, module);
}

void tp_events_unload(struct tp_module *module)
{
	for (struct tp_event **at = module->events; at < module->events_end; at++) {
		if (*at)
			event_unload(*at);
	}
}

void tp_events_settle(struct tp_module *module)
{
	for (struct tp_event **at = module->events; at < module->events_end; at++) {
		if (*at && !(*at)->reserved[0])
			(*at)->id = 0;
	}
}

void tp_for_each_event(void (*fct)(const struct tp_event *event, void *priv), void *priv)
{
	tp_lock(&tp_events_lock);
	for (const struct loaded *loaded = all; loaded; loaded = loaded->next)
		fct(loaded->event, priv);
	tp_unlock(&tp_events_lock);
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
	*sink = (struct tp_sink){.ops = ops};
	tp_lock(&tp_events_lock);
	for (struct loaded *loaded = all; loaded && !error; loaded = loaded->next)
		error = describe(state, loaded);
	if (!error)
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
			tp_probe_unregister(event->tracepoint->name, event->record, state->sink);
	}
}

int tp_sink_close(struct tp_sink *sink)
{
	struct sink_state *state = sink ? sink->reserved[0] : NULL;
	struct sink_state **at = &sinks;

	if (!state)
		return -EINVAL;
	if (urcu_bp_read_ongoing()) {
		tp_complain("tp_sink_close() was called from inside a probe, which would wait for itself for ever: "
			    "it did nothing");
		return -EDEADLK;
	}
	tp_lock(&tp_events_lock);
	while (*at != state)
		at = &(*at)->next;
	*at = state->next;
	detach_all(state);
	tp_unlock(&tp_events_lock);
	tracepoint_synchronize_unregister();
	state_free(state);
	return sink->ops->close(sink);
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
	if (error) {
		*at = NULL;
		rule_free(rule);
		int ignored = 0; /* what was on before is on still, and taking off can't fail */
		apply_to_all(state, &ignored);
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
	struct rule *rule = rule_new(patterns, enable, &result);
	if (!rule)
		return result;
	tp_lock(&tp_events_lock);
	result = add_rule(state, rule);
	tp_unlock(&tp_events_lock);
	return result;
}

int tp_enable(struct tp_sink *sink, const char *patterns)
{
	return enable_or_disable(sink, patterns, true);
}

bool tp_sink_used(struct tp_sink *sink)
{
	const struct sink_state *state = sink->reserved[0];

	tp_lock(&tp_events_lock);
	bool used = state->used;
	tp_unlock(&tp_events_lock);
	return used;
}

int tp_disable(struct tp_sink *sink, const char *patterns)
{
	return enable_or_disable(sink, patterns, false);
}

/* ---- Forks ---- */

void tp_events_before_fork(void)
{
	for (struct sink_state *state = sinks; state; state = state->next) {
		if (state->sink->ops->before_fork)
			state->sink->ops->before_fork(state->sink);
	}
}

void tp_events_after_fork(bool child)
{
	for (struct sink_state *state = sinks; state; state = state->next) {
		const struct tp_sink_ops *ops = state->sink->ops;
		void (*after)(struct tp_sink *sink) = child ? ops->after_fork_child : ops->after_fork_parent;

		if (child) /* what the parent lost is the parent's to tell */
			__atomic_store_n(&state->sink->lost, 0, __ATOMIC_RELAXED);
		if (after)
			after(state->sink);
	}
}
