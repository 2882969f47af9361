/* SPDX-License-Identifier: MIT */
/*
 * start/trigger.c - see trigger.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/text.h"
#include "events/events.h"
#include "events/pattern.h"
#include "start/selection.h"
#include "start/trigger.h"
#include "triggers/triggers.h"

#define NOT_SET "; it is not set"

static struct wanted_trigger {
	const char *patterns, *trigger;
	char *target; /* the event that it switches, or NULL */
	bool alone;   /* it is for no output */
} *wanted_triggers;

static size_t nr_wanted;
static char *text; /* of all */

/* "PATTERNS TRIGGER"; the trigger, cut off. Blanks behind a comma are the patterns'. */
static char *cut_trigger(char *wanted)
{
	char *at = wanted + strcspn(wanted, TP_BLANKS);

	while (at > wanted && (at[-1] == ',' || at[strspn(at, TP_BLANKS)] == ',')) {
		at += strspn(at, TP_BLANKS ",");
		at += strcspn(at, TP_BLANKS);
	}
	if (!*at)
		return at;
	*at = '\0';
	return tp_trim(at + 1);
}

static bool is_good(struct wanted_trigger *wanted)
{
	struct tp_trigger_request request = {.patterns = wanted->patterns, .trigger = wanted->trigger, .in_a_line = true};
	const bool good = tp_trigger_check(&request, &wanted->alone, &wanted->target) == 0;

	if (!good)
		tp_complain("TP_TRIGGER=%s%s%s: %s" NOT_SET, wanted->patterns, *wanted->trigger ? " " : "", wanted->trigger,
			    request.text.text ? request.text.text : "out of memory");
	tp_buffer_free(&request.text);
	return good;
}

void tp_start_triggers_read(const char *setting)
{
	size_t room = 1;

	for (const char *at = setting; *at; at++)
		room += *at == ';';
	text = strdup(setting);
	wanted_triggers = tp_malloc(room * sizeof(wanted_triggers[0]));
	if (!text || !wanted_triggers) {
		tp_complain("TP_TRIGGER: out of memory; no trigger is set");
		return;
	}
	for (char *next, *at = text; at; at = next) {
		next = tp_cut_at_semicolon(at, true);
		struct wanted_trigger wanted = {.patterns = tp_trim(at)};
		if (!*wanted.patterns)
			continue;
		wanted.trigger = cut_trigger(tp_trim(at));
		if (is_good(&wanted))
			wanted_triggers[nr_wanted++] = wanted;
	}
}

bool tp_start_triggers_need_outputs(void)
{
	bool need = false;

	for (size_t i = 0; i < nr_wanted; i++)
		need = need || !wanted_triggers[i].alone;
	return need;
}

static void set(const struct wanted_trigger *wanted, struct tp_sink *sink, const char *output)
{
	struct tp_trigger_request request = {
		.sink = sink, .patterns = wanted->patterns, .trigger = wanted->trigger, .in_a_line = true, .waits = true, .at_end = true,
	};
	const int result = tp_trigger_request(&request);
	const char *why = request.text.text ? request.text.text : result < 0 ? tp_strerror(-result) : NULL;

	if (why)
		tp_complain("TP_TRIGGER=%s %s: %s%s%s%s%s", wanted->patterns, wanted->trigger, output ? "for " : "", output ? output : "",
			    output ? ": " : "", why, result < 0 ? NOT_SET : "");
	tp_buffer_free(&request.text);
}

void tp_start_triggers_set(struct tp_sink *sink, const char *output)
{
	for (size_t i = 0; i < nr_wanted; i++) {
		if (wanted_triggers[i].alone == !sink)
			set(&wanted_triggers[i], sink, output);
	}
}

static void tell_missing(const struct wanted_trigger *wanted, const char *event)
{
	tp_complain("TP_TRIGGER=%s %s: no event of this program is called '%s'", wanted->patterns, wanted->trigger, event);
}

static void tell_if_unmatched(const char *glob, void *data)
{
	if (!tp_events_match(glob))
		tell_missing(data, glob);
}

void tp_start_triggers_end(void)
{
	int error;

	for (size_t i = 0; i < nr_wanted; i++) {
		struct tp_pattern *patterns = tp_pattern_new(wanted_triggers[i].patterns, &error);
		if (patterns) {
			tp_pattern_each(patterns, tell_if_unmatched, &wanted_triggers[i]);
			tp_pattern_free(patterns);
		}
		if (wanted_triggers[i].target && !tp_events_know(wanted_triggers[i].target))
			tell_missing(&wanted_triggers[i], wanted_triggers[i].target);
		free(wanted_triggers[i].target);
	}
	nr_wanted = 0;
	free(wanted_triggers);
	free(text);
	wanted_triggers = NULL;
	text = NULL;
}
