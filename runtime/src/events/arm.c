/* SPDX-License-Identifier: MIT */
/*
 * events/arm.c - triggers say which events they are going to switch: from then on these are attached.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "base/message.h"
#include "base/text.h"
#include "core/core.h"
#include "events/attach.h"
#include "events/events.h"

/* ---- Beginning ---- */

static uint64_t last_number(const struct tp_sink_state *state)
{
	uint64_t number = 0;

	for (const struct tp_rule *rule = state->rules; rule; rule = rule->next)
		number = rule->number;
	return number;
}

/* The rules that are there have decided, unless the event is yet to come. NULL: no memory. */
static struct tp_armed *armed_new(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	struct tp_armed *armed = tp_malloc(sizeof(*armed));

	if (armed)
		*armed = (struct tp_armed){
			.group = group,
			.off = !tp_attached_of(state, group),
			.decided_by = tp_attachable_of(state, group) ? last_number(state) : 0,
		};
	return armed;
}

static void free_retired(struct tp_retired *retired)
{
	free(retired);
}

/* Arms the event, or lets the rules alone decide again. */
static int apply(struct tp_sink_state *state, const struct tp_event_group *group)
{
	int error = 0;

	if (state->closing)
		return 0;
	tp_attach_group(state, group, &error);
	const int failed = tp_registry_switch();
	return error ? error : failed;
}

static void take_off(struct tp_sink_state *state, struct tp_attached *attached)
{
	struct tp_armed *armed = attached->armed;

	attached->armed = NULL;
	apply(state, armed->group);
	tp_retire(&armed->retired, free_retired);
}

static int begin(struct tp_sink_state *state, const struct tp_event_group *group, struct tp_armed **armed)
{
	struct tp_attached *attached = group && !state->closing ? tp_attached_room(state, group) : NULL;
	int error = 0;

	if (!attached)
		return state->closing ? -EINVAL : -ENOMEM;
	if (!attached->armed) {
		attached->armed = armed_new(state, group);
		error = attached->armed ? apply(state, group) : -ENOMEM;
	}
	if (error && attached->armed)
		take_off(state, attached);
	*armed = attached->armed;
	if (*armed)
		(*armed)->users++;
	return error;
}

struct tp_armed *tp_armed_begin(struct tp_sink *sink, const char *name, int *error)
{
	struct tp_armed *armed = NULL;
	const char *colon = strchr(name, ':');
	char *system = colon ? strndup(name, (size_t)(colon - name)) : NULL;

	*error = colon ? -ENOMEM : -EINVAL;
	if (system) {
		tp_lock(&tp_events_lock);
		*error = begin(sink->reserved[0], tp_group_of(system, colon + 1), &armed);
		tp_unlock(&tp_events_lock);
	}
	free(system);
	tp_retired_settle();
	return armed;
}

/* ---- The end ---- */

/* Whether it was the last user, and what the rules have to say then: 1 on, 0 off, -1 nothing. */
static int let_go(const struct tp_sink_state *state, struct tp_armed *armed)
{
	const bool on = !tp_armed_is_off(armed);

	if (--armed->users || state->closing || !tp_attachable_of(state, armed->group))
		return -1;
	return on == tp_attach_is_wanted(state, armed->group) ? -1 : on;
}

/* A trigger may have switched it: a rule of its own makes that last. */
static void keep_by_rule(struct tp_sink *sink, const char *name, bool on)
{
	const int error = on ? tp_enable(sink, name) : tp_disable(sink, name);

	if (error < 0)
		tp_complain("event '%s' does not stay as a trigger has left it: %s", name, tp_strerror(-error));
}

void tp_armed_end(struct tp_sink *sink, struct tp_armed *armed)
{
	struct tp_sink_state *state = sink->reserved[0];
	const struct tp_event_group *group = armed->group; /* groups are never freed, but *armed may be */

	tp_lock(&tp_events_lock);
	const int rule = let_go(state, armed);
	tp_unlock(&tp_events_lock);
	if (rule >= 0)
		keep_by_rule(sink, group->name, rule);
	tp_lock(&tp_events_lock);
	struct tp_attached *attached = tp_attached_room(state, group); /* it is there */
	if (attached->armed && !attached->armed->users) /* nobody has begun again */
		take_off(state, attached);
	tp_unlock(&tp_events_lock);
	tp_retired_settle();
}
