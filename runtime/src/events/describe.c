/* SPDX-License-Identifier: MIT */
/*
 * events/describe.c - the sinks are told which events there are.
 */
#include <errno.h>

#include "base/message.h"
#include "core/core.h"
#include "events/attach.h"

static void set_described(struct tp_sink_state *state, const struct tp_event *event, bool described)
{
	uint8_t bit = (uint8_t)(1u << event->id % 8);
	uint8_t *byte = &state->described[event->id / 8];

	*byte = (uint8_t)(described ? *byte | bit : *byte & ~bit);
}

static int describe(struct tp_sink_state *state, struct tp_loaded_event *loaded)
{
	const struct tp_sink_ops *ops = state->sink->ops;

	loaded->fresh = !tp_sink_knows(state, loaded->event);
	if (!loaded->fresh)
		return 0;
	int error = ops->describe_event ? ops->describe_event(state->sink, loaded->event) : 0;
	if (error == TP_NOT_FOR_SINK) {
		loaded->fresh = false;
	} else if (error) {
		loaded->fresh = false;
		tp_complain("event '%s' stays off in a %s output, which can't describe it: %s", loaded->group->name,
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

/* The module's events that match the rule, but lack what its filter names. */
static void tell_misfits(const struct tp_sink_state *state, struct tp_rule *rule, const struct tp_module *module)
{
	struct tp_filter_error error, first = {.error = 0};
	struct tp_buffer text = {.text = NULL};
	const struct tp_event *event;
	const char *name = NULL;
	int nr = 0;

	for (size_t i = 0; rule->filter && (event = tp_events_at(module, &i));) {
		const struct tp_loaded_event *loaded = event->reserved[0];
		if (!loaded || !loaded->fresh || !tp_rule_misfits(rule, loaded->group, event, &error))
			continue;
		nr++;
		if (tp_filter_error_keep(&first, &error))
			name = loaded->group->name;
	}
	if (nr) {
		tp_rule_tell_misfits(&text, rule, state->hidden, nr, name, &first);
		tp_complain("%s, in a %s output: %s", tp_pattern_text(rule->pattern), state->sink->ops->name,
			    text.failed ? "out of memory" : text.text);
	}
	tp_buffer_free(&text);
	tp_filter_error_free(&first);
}

static void tell_sink(struct tp_sink_state *state, struct tp_module *module)
{
	struct tp_event *event;
	struct tp_loaded_event *loaded;
	int error = 0;

	for (size_t i = 0; (event = tp_events_at(module, &i));) {
		loaded = event->reserved[0];
		if (loaded)
			describe(state, loaded);
	}
	bool failed = write_descriptions(state->sink) != 0;
	for (size_t i = 0; (event = tp_events_at(module, &i));) {
		loaded = event->reserved[0];
		if (!loaded)
			continue;
		if (failed && loaded->fresh)
			set_described(state, loaded->event, false);
		tp_attach_group(state, loaded->group, &error);
	}
	for (struct tp_rule *rule = state->rules; rule; rule = rule->next)
		tell_misfits(state, rule, module);
	if (failed)
		tp_complain("the events of a module that was loaded stay off in a %s output, which can't describe them",
			    state->sink->ops->name);
	if (error)
		tp_complain("some events of a module that was loaded are not recorded: out of memory");
}

void tp_sinks_load(struct tp_module *module)
{
	size_t first = 0;

	if (!tp_events_at(module, &first))
		return;
	for (struct tp_sink_state *state = tp_sinks; state; state = state->next)
		tell_sink(state, module);
	tp_sites_switch_or_give_up();
}

void tp_sinks_follow(const struct tp_event_group *group)
{
	int error = 0;

	for (struct tp_sink_state *state = tp_sinks; state; state = state->next)
		tp_attach_group(state, group, &error);
	if (error)
		tp_complain("event '%s' is not recorded any more: out of memory", group->name);
}
