/* SPDX-License-Identifier: MIT */
/*
 * triggers/switching.c - traceon, traceoff, enable_event, disable_event: whether a sink records at all, or an event.
 *
 * As in the kernel, one that would change nothing does not count.
 */
#include <errno.h>

#include "base/message.h"
#include "events/events.h"
#include "record/record.h"
#include "triggers/trigger.h"

static void switch_sink(struct tp_trigger *trigger, bool on)
{
	if (tp_sink_is_on(trigger->sink) == on || !tp_trigger_take(trigger))
		return;
	if (!tp_sink_switch(trigger->sink, on)) /* another thread was faster */
		tp_trigger_give_back(trigger);
}

static void fire_on(struct tp_trigger *trigger, const struct tp_event *event)
{
	(void)event;
	switch_sink(trigger, true);
}

static void fire_off(struct tp_trigger *trigger, const struct tp_event *event)
{
	(void)event;
	switch_sink(trigger, false);
}

/* The event that switches recording on is recorded, and so is the one that switches it off. */
const struct tp_trigger_command tp_trigger_traceon = {
	.name = "traceon", .kind = TP_TRIGGER_RECORDING, .priority = TRACEPOINT_DEFAULT_PRIO + 1, .fire = fire_on,
};

const struct tp_trigger_command tp_trigger_traceoff = {
	.name = "traceoff", .kind = TP_TRIGGER_RECORDING, .priority = TRACEPOINT_DEFAULT_PRIO - 2, .fire = fire_off,
};

/* ---- enable_event and disable_event ---- */

static int begin(struct tp_trigger *trigger, struct tp_buffer *why)
{
	int error;

	trigger->armed = tp_armed_begin(trigger->sink, trigger->target, &error);
	if (!trigger->armed)
		tp_buffer_printf(why, "'%s' can't be switched: %s", trigger->target, tp_strerror(-error));
	return error;
}

static void end(struct tp_trigger *trigger)
{
	tp_armed_end(trigger->sink, trigger->armed);
}

static void switch_event(struct tp_trigger *trigger, bool on)
{
	if (tp_armed_is_on(trigger->armed) == on || !tp_trigger_take(trigger))
		return;
	if (!tp_armed_switch(trigger->armed, on)) /* another thread was faster */
		tp_trigger_give_back(trigger);
}

static void fire_enable(struct tp_trigger *trigger, const struct tp_event *event)
{
	(void)event;
	switch_event(trigger, true);
}

static void fire_disable(struct tp_trigger *trigger, const struct tp_event *event)
{
	(void)event;
	switch_event(trigger, false);
}

const struct tp_trigger_command tp_trigger_enable_event = {
	.name = "enable_event", .kind = TP_TRIGGER_EVENT, .priority = TRACEPOINT_DEFAULT_PRIO + 1, .has_target = true,
	.begin = begin, .fire = fire_enable, .end = end,
};

const struct tp_trigger_command tp_trigger_disable_event = {
	.name = "disable_event", .kind = TP_TRIGGER_EVENT, .priority = TRACEPOINT_DEFAULT_PRIO + 1, .has_target = true,
	.begin = begin, .fire = fire_disable, .end = end,
};
