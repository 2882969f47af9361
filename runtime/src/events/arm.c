/* SPDX-License-Identifier: MIT */
/*
 * events/arm.c - triggers say which events they are going to switch: from then on these are attached.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "base/memory.h"
#include "base/message.h"
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
static struct tp_soft *soft_new(const struct tp_sink_state *state, const struct tp_event_group *group)
{
	struct tp_soft *soft = tp_malloc(sizeof(*soft));

	if (soft)
		*soft = (struct tp_soft){
			.group = group,
			.off = !tp_attached_of(state, group),
			.decided_by = tp_attachable_of(state, group) ? last_number(state) : 0,
		};
	return soft;
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
	struct tp_soft *soft = attached->soft;

	attached->soft = NULL;
	apply(state, soft->group);
	tp_retire(&soft->retired, free_retired);
}

static int begin(struct tp_sink_state *state, const struct tp_event_group *group, struct tp_soft **soft)
{
	struct tp_attached *attached = group && !state->closing ? tp_attached_room(state, group) : NULL;
	int error = 0;

	if (!attached)
		return state->closing ? -EINVAL : -ENOMEM;
	if (!attached->soft) {
		attached->soft = soft_new(state, group);
		error = attached->soft ? apply(state, group) : -ENOMEM;
	}
	if (error && attached->soft)
		take_off(state, attached);
	*soft = attached->soft;
	if (*soft)
		(*soft)->users++;
	return error;
}

struct tp_soft *tp_soft_begin(struct tp_sink *sink, const char *name, int *error)
{
	struct tp_soft *soft = NULL;
	const char *colon = strchr(name, ':');
	char *system = colon ? strndup(name, (size_t)(colon - name)) : NULL;

	*error = colon ? -ENOMEM : -EINVAL;
	if (system) {
		tp_lock(&tp_events_lock);
		*error = begin(sink->reserved[0], tp_group_of(system, colon + 1), &soft);
		tp_unlock(&tp_events_lock);
	}
	free(system);
	tp_retired_settle();
	return soft;
}

/* ---- The end ---- */

/* Whether it was the last user, and what the rules have to say then: 1 on, 0 off, -1 nothing. */
static int let_go(const struct tp_sink_state *state, struct tp_soft *soft)
{
	const bool on = !tp_soft_is_off(soft);

	if (--soft->users || state->closing || !tp_attachable_of(state, soft->group))
		return -1;
	return on == tp_attach_is_wanted(state, soft->group) ? -1 : on;
}

/* A trigger may have switched it: a rule of its own makes that last. */
static void keep_by_rule(struct tp_sink *sink, const char *name, bool on)
{
	const int error = on ? tp_enable(sink, name) : tp_disable(sink, name);

	if (error < 0)
		tp_complain("event '%s' does not stay as a trigger has left it: %s", name, tp_strerror(-error));
}

void tp_soft_end(struct tp_sink *sink, struct tp_soft *soft)
{
	struct tp_sink_state *state = sink->reserved[0];
	const struct tp_event_group *group = soft->group; /* groups are never freed, but soft may be */

	tp_lock(&tp_events_lock);
	const int rule = let_go(state, soft);
	tp_unlock(&tp_events_lock);
	if (rule >= 0)
		keep_by_rule(sink, group->name, rule);
	tp_lock(&tp_events_lock);
	struct tp_attached *attached = tp_attached_room(state, group); /* it is there */
	if (attached->soft && !attached->soft->users) /* nobody has begun again */
		take_off(state, attached);
	tp_unlock(&tp_events_lock);
	tp_retired_settle();
}
