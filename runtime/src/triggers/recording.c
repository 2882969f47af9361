/* SPDX-License-Identifier: MIT */
/*
 * triggers/recording.c - traceon and traceoff: whether the sink records at all.
 *
 * As in the kernel, one that would change nothing does not count.
 */
#include "record/record.h"
#include "triggers/commands.h"

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
