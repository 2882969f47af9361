/* SPDX-License-Identifier: MIT */
/*
 * start/trigger.c - see trigger.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/message.h"
#include "events/events.h"
#include "events/pattern.h"
#include "start/selection.h"
#include "start/trigger.h"
#include "triggers/triggers.h"

#define NOT_SET "; it is not set"

static struct wish {
	const char *patterns, *trigger;
	char *target; /* the event that it switches, or NULL */
	bool alone;   /* it is for no output */
} *wishes;

static size_t nr_wishes;
static char *text; /* of all */

/* "PATTERNS TRIGGER"; the trigger, cut off. Blanks behind a comma are the patterns'. */
static char *cut_trigger(char *wish)
{
	char *at = wish + strcspn(wish, TP_BLANKS);

	while (at > wish && (at[-1] == ',' || at[strspn(at, TP_BLANKS)] == ',')) {
		at += strspn(at, TP_BLANKS ",");
		at += strcspn(at, TP_BLANKS);
	}
	if (!*at)
		return at;
	*at = '\0';
	return tp_trim(at + 1);
}

static bool is_good(struct wish *wish)
{
	struct tp_trigger_request request = {.patterns = wish->patterns, .trigger = wish->trigger, .in_a_line = true};
	const bool good = tp_trigger_check(&request, &wish->alone, &wish->target) == 0;

	if (!good)
		tp_complain("TP_TRIGGER=%s%s%s: %s" NOT_SET, wish->patterns, *wish->trigger ? " " : "", wish->trigger,
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
	wishes = tp_malloc(room * sizeof(wishes[0]));
	if (!text || !wishes) {
		tp_complain("TP_TRIGGER: out of memory; no trigger is set");
		return;
	}
	for (char *next, *at = text; at; at = next) {
		next = tp_cut_at_semicolon(at, true);
		struct wish wish = {.patterns = tp_trim(at)};
		if (!*wish.patterns)
			continue;
		wish.trigger = cut_trigger(tp_trim(at));
		if (is_good(&wish))
			wishes[nr_wishes++] = wish;
	}
}

bool tp_start_triggers_need_outputs(void)
{
	bool need = false;

	for (size_t i = 0; i < nr_wishes; i++)
		need = need || !wishes[i].alone;
	return need;
}

static void set(const struct wish *wish, struct tp_sink *sink, const char *output)
{
	struct tp_trigger_request request = {
		.sink = sink, .patterns = wish->patterns, .trigger = wish->trigger, .in_a_line = true, .waits = true, .at_end = true,
	};
	const int result = tp_trigger_request(&request);
	const char *why = request.text.text ? request.text.text : result < 0 ? tp_strerror(-result) : NULL;

	if (why)
		tp_complain("TP_TRIGGER=%s %s: %s%s%s%s%s", wish->patterns, wish->trigger, output ? "for " : "", output ? output : "",
			    output ? ": " : "", why, result < 0 ? NOT_SET : "");
	tp_buffer_free(&request.text);
}

void tp_start_triggers_set(struct tp_sink *sink, const char *output)
{
	for (size_t i = 0; i < nr_wishes; i++) {
		if (wishes[i].alone == !sink)
			set(&wishes[i], sink, output);
	}
}

static void tell_missing(const struct wish *wish, const char *event)
{
	tp_complain("TP_TRIGGER=%s %s: no event of this program is called '%s'", wish->patterns, wish->trigger, event);
}

static void tell_if_unmatched(const char *glob, void *data)
{
	if (!tp_events_match(glob))
		tell_missing(data, glob);
}

void tp_start_triggers_end(void)
{
	int error;

	for (size_t i = 0; i < nr_wishes; i++) {
		struct tp_pattern *patterns = tp_pattern_new(wishes[i].patterns, &error);
		if (patterns) {
			tp_pattern_each(patterns, tell_if_unmatched, &wishes[i]);
			tp_pattern_free(patterns);
		}
		if (wishes[i].target && !tp_event_is_known(wishes[i].target))
			tell_missing(&wishes[i], wishes[i].target);
		free(wishes[i].target);
	}
	nr_wishes = 0;
	free(wishes);
	free(text);
	wishes = NULL;
	text = NULL;
}
