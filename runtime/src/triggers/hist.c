/* SPDX-License-Identifier: MIT */
/*
 * triggers/hist.c - hist: its events are counted in a histogram, which is a sink of its own; enable_hist and disable_hist:
 * whether those of another event count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#include "sinks/hist/hist.h"
#include "triggers/list.h"
#include "triggers/trigger.h"

/* ---- hist ---- */

/* Its snapshot() takes one of a sink. */
static bool wants_sink(const char *argument)
{
	struct tp_filter_error error;
	struct tp_hist_definition *definition = tp_hist_definition_new(argument, &error);
	const bool wants = definition && tp_hist_wants_snapshot(definition);

	tp_hist_definition_free(definition);
	tp_filter_error_free(&error);
	return wants;
}

static int parse(struct tp_trigger *trigger, struct tp_filter_error *error)
{
	trigger->definition = tp_hist_definition_new(trigger->argument, error);
	return trigger->definition ? 0 : error->error;
}

static bool is_same_filter(const struct tp_trigger *one, const struct tp_trigger *other)
{
	if (!one->filter || !other->filter)
		return one->filter == other->filter;
	return strcmp(one->filter, other->filter) == 0;
}

static bool is_same(const struct tp_trigger *one, const struct tp_trigger *other)
{
	return tp_hist_is(other->own, one->definition) && is_same_filter(one, other);
}

static bool is_this(const struct tp_trigger *trigger, const void *data)
{
	const struct tp_trigger *wanted = data;

	return trigger->command == &tp_trigger_hist && trigger->serial == wanted->serial &&
	       tp_pattern_same(trigger->patterns, wanted->patterns) && is_same(wanted, trigger);
}

static int change(const struct tp_trigger *trigger)
{
	const enum tp_hist_selector selector = tp_hist_selector_of(trigger->definition);
	struct tp_trigger *there = selector == TP_HIST_MAKE ? NULL : tp_trigger_hold(is_this, trigger);
	int error = 0;

	if (!there)
		return 0;
	if (selector == TP_HIST_CLEAR)
		error = tp_hist_clear(there->own);
	else
		tp_hist_pause(there->own, selector == TP_HIST_PAUSE);
	tp_trigger_let_go(there);
	return error ? error : 1;
}

static int open_sink(struct tp_trigger *trigger, struct tp_filter_error *error)
{
	struct tp_hist_definition *definition = tp_hist_definition_new(trigger->argument, error);

	trigger->own = definition ? tp_hist_sink(definition, trigger->filter, error) : NULL;
	return trigger->own ? 0 : error->error;
}

static int fits(const struct tp_trigger *trigger, const char *patterns, struct tp_filter_error *error)
{
	return tp_hist_fits(trigger->own, patterns, error);
}

static void doubt(const struct tp_trigger *trigger, bool waits, struct tp_buffer *why)
{
	tp_hist_put_doubts(trigger->own, waits, why);
}

static int leave(const struct tp_trigger *trigger, struct tp_buffer *why)
{
	return tp_hist_leave(trigger->own, why);
}

static void put(struct tp_buffer *to, const struct tp_trigger *trigger)
{
	tp_hist_put_definition(to, trigger->own);
}

static void take_snapshot(void *data)
{
	tp_trigger_snapshot.fire(data, NULL);
}

static int begin(struct tp_trigger *trigger, struct tp_buffer *why)
{
	if (!tp_hist_wants_snapshot(trigger->definition))
		return 0;
	const int error = tp_trigger_snapshot.begin(trigger, why);
	if (!error)
		tp_hist_on_snapshot(trigger->own, take_snapshot, trigger);
	return error;
}

static void end(struct tp_trigger *trigger)
{
	if (trigger->snapshot)
		tp_trigger_snapshot.end(trigger);
}

static void free_definition(struct tp_trigger *trigger)
{
	if (trigger->definition)
		tp_hist_definition_free(trigger->definition);
}

const struct tp_trigger_command tp_trigger_hist = {
	.name = "hist", .kind = TP_TRIGGER_HIST, .priority = TRACEPOINT_DEFAULT_PRIO + 1, .takes_all = true, .alone = true,
	.wants_sink = wants_sink, .parse = parse, .change = change, .open = open_sink, .fits = fits, .is_same = is_same,
	.doubt = doubt, .leave = leave, .put = put, .free = free_definition, .begin = begin, .end = end,
};

char *tp_hist_text(const char *patterns, bool json)
{
	struct tp_buffer text = {.text = NULL};
	const int nr = patterns ? tp_hists_report(patterns, json, &text) : -EINVAL;

	if (nr > 0)
		return text.text;
	tp_buffer_free(&text);
	errno = nr ? -nr : ENOENT;
	return NULL;
}

/* ---- enable_hist, disable_hist ---- */

static void fire_enable(struct tp_trigger *trigger, const struct tp_event *event)
{
	(void)event;
	if (tp_trigger_take(trigger))
		tp_hists_pause_of(trigger->target, false);
}

static void fire_disable(struct tp_trigger *trigger, const struct tp_event *event)
{
	(void)event;
	if (tp_trigger_take(trigger))
		tp_hists_pause_of(trigger->target, true);
}

const struct tp_trigger_command tp_trigger_enable_hist = {
	.name = "enable_hist", .kind = TP_TRIGGER_HIST_SWITCH, .priority = TRACEPOINT_DEFAULT_PRIO + 1, .has_target = true,
	.alone = true, .fire = fire_enable,
};

const struct tp_trigger_command tp_trigger_disable_hist = {
	.name = "disable_hist", .kind = TP_TRIGGER_HIST_SWITCH, .priority = TRACEPOINT_DEFAULT_PRIO + 1, .has_target = true,
	.alone = true, .fire = fire_disable,
};
