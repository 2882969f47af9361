/* SPDX-License-Identifier: MIT */
/*
 * triggers/set.c - triggers are set, and taken off: by somebody who asks for it, or as their sink is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/memory.h"
#include "base/readers.h"
#include "events/events.h"
#include "record/record.h"
#include "triggers/list.h"
#include "triggers/parse.h"
#include "triggers/triggers.h"

#define NO_PATTERNS "no list of patterns; write for example sched:*,!sched:sched_wakeup"

/* ---- A trigger's own sink ---- */

/* All is done here, where no record was made yet. */
static bool trigger_reserve(struct tp_record *rec)
{
	struct tp_trigger *trigger = (struct tp_trigger *)rec->sink;

	trigger->command->fire(trigger, rec->event);
	return false;
}

static int trigger_close(struct tp_sink *head)
{
	(void)head;
	return 0;
}

static const struct tp_sink_ops trigger_ops = {
	.name = "trigger", .reserve = trigger_reserve, .close = trigger_close,
};

/* ---- Making one ---- */

static void trigger_free(struct tp_trigger *trigger)
{
	if (trigger->patterns)
		tp_pattern_free(trigger->patterns);
	tp_own_file_close(&trigger->directory);
	free(trigger->filter);
	free(trigger->target);
	free(trigger);
}

/* Takes the text's target over. NULL: *error is -EINVAL, with a reason in the request, or -ENOMEM. */
static struct tp_trigger *trigger_new(struct tp_trigger_request *request, struct tp_trigger_text *text, int *error)
{
	struct tp_trigger *trigger = tp_malloc(sizeof(*trigger));

	*error = -ENOMEM;
	if (!trigger)
		return NULL;
	*trigger = (struct tp_trigger){
		.command = text->command, .sink = request->sink, .serial = tp_sink_serial(request->sink),
		.patterns = tp_pattern_new(request->patterns, error), .target = text->target, .count = text->count,
		.after_ns = text->after_ns, .directory = TP_OWN_FILE_NONE, .has_directory = request->has_directory,
	};
	text->target = NULL;
	if (*error == -EINVAL)
		tp_buffer_printf(&request->text, NO_PATTERNS);
	if (!*error && trigger->has_directory) {
		*error = -tp_own_file_take(&trigger->directory, request->directory);
		request->has_directory = false; /* it is closed in any case */
	}
	if (!*error && text->filter) {
		trigger->filter = strdup(text->filter);
		*error = trigger->filter ? 0 : -ENOMEM;
	}
	if (!*error)
		return trigger;
	trigger_free(trigger);
	return NULL;
}

/* ---- Setting it ---- */

/* The number of events that fire it, or an error. */
static int arm(struct tp_trigger *trigger, struct tp_trigger_request *request)
{
	struct tp_enable_report report = {.in_a_line = request->in_a_line, .waits = request->waits};

	tp_sink_hide(&trigger->head);
	tp_sink_set_priority(&trigger->head, trigger->command->priority);
	const int result = tp_enable_filtered(&trigger->head, tp_pattern_text(trigger->patterns), trigger->filter, &report);
	tp_buffer_free(&request->text);
	request->text = report.text;
	return result;
}

/* Nothing is left of it where that fails. */
static int begin(struct tp_trigger *trigger, struct tp_trigger_request *request)
{
	const struct tp_trigger_command *command = trigger->command;
	int result = command->begin ? command->begin(trigger, &request->text) : 0;

	if (result)
		return result;
	result = tp_sink_open(&trigger->head, &trigger_ops);
	if (!result) {
		result = arm(trigger, request);
		if (result < 0)
			tp_sink_close(&trigger->head);
	}
	if (result < 0 && command->end)
		command->end(trigger);
	return result;
}

static void end(struct tp_trigger *trigger)
{
	tp_sink_close(&trigger->head);
	if (trigger->command->end)
		trigger->command->end(trigger);
	trigger_free(trigger);
}

static bool is_on_sink(const struct tp_trigger *trigger, const void *serial)
{
	return trigger->serial == *(const uint64_t *)serial;
}

/* Whoever was setting one held the sink, and is done. */
static void sink_is_closing(struct tp_sink *sink)
{
	const uint64_t serial = tp_sink_serial(sink);
	struct tp_trigger *trigger;

	while ((trigger = tp_trigger_take_off(is_on_sink, &serial)))
		end(trigger);
}

static int set(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	int result;
	struct tp_trigger *trigger = trigger_new(request, text, &result);

	if (!trigger)
		return result;
	tp_sinks_listen(sink_is_closing);
	result = tp_trigger_link(trigger);
	if (result == -EEXIST)
		tp_buffer_printf(&request->text, "there is such a trigger on one of these events already; take that off first");
	if (!result) {
		result = begin(trigger, request);
		if (result >= 0) {
			tp_trigger_is_set(trigger);
			return result;
		}
		tp_trigger_unlink(trigger);
	}
	trigger_free(trigger);
	return result;
}

/* ---- Taking it off ---- */

/* What is to be taken off: as in the kernel, neither the count nor the filter is compared. */
struct named {
	const struct tp_trigger_text *text;
	const struct tp_pattern *patterns;
	uint64_t serial;
};

static bool is_named(const struct tp_trigger *trigger, const void *data)
{
	const struct named *named = data;

	return trigger->command == named->text->command && trigger->serial == named->serial &&
	       tp_pattern_same(trigger->patterns, named->patterns) &&
	       (!trigger->target || strcmp(trigger->target, named->text->target) == 0);
}

static int take_off(struct tp_trigger_request *request, const struct tp_trigger_text *text)
{
	int error;
	struct tp_pattern *patterns = tp_pattern_new(request->patterns, &error);

	if (!patterns)
		return error;
	const struct named named = {.text = text, .patterns = patterns, .serial = tp_sink_serial(request->sink)};
	struct tp_trigger *trigger = tp_trigger_take_off(is_named, &named);
	tp_pattern_free(patterns);
	if (!trigger) {
		tp_buffer_printf(&request->text, "there is no such trigger on %s", request->patterns);
		return -ENOENT;
	}
	end(trigger);
	return 0;
}

/* ---- Requests ---- */

static int refuse(struct tp_trigger_request *request, const char *why)
{
	tp_buffer_printf(&request->text, "%s", why);
	return -EINVAL;
}


static void tell_wrong(struct tp_trigger_request *request, const struct tp_filter_error *wrong)
{
	if (request->in_a_line)
		tp_filter_error_print_line(&request->text, request->trigger, wrong);
	else
		tp_filter_error_print(&request->text, request->trigger, wrong);
}

/* The sink is held meanwhile: whoever closes it waits, and then finds what was set. */
static int on_sink(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	struct tp_sink *sink = request->sink && request->sink->reserved[0] ? tp_sink_hold(tp_sink_serial(request->sink)) : NULL;

	if (!sink)
		return refuse(request, "this trigger acts on a sink, and there is none");
	const int result = text->remove ? take_off(request, text) : set(request, text);
	tp_sink_let_go(sink);
	return result;
}

/* 0, and the text is parsed; or an error, with a reason. */
static int parse(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	struct tp_filter_error wrong;

	if (!request->patterns || !request->trigger)
		return refuse(request, "there are no patterns, or there is no trigger");
	const int error = tp_trigger_parse(text, request->trigger, &wrong);
	if (error == -EINVAL)
		tell_wrong(request, &wrong);
	tp_filter_error_free(&wrong);
	return error;
}

static int serve(struct tp_trigger_request *request)
{
	struct tp_trigger_text text;

	if (tp_reading())
		return -EDEADLK;
	int result = parse(request, &text);
	if (result)
		return result;
	result = on_sink(request, &text);
	tp_trigger_text_free(&text);
	return result;
}

int tp_trigger_request(struct tp_trigger_request *request)
{
	const int result = serve(request);

	if (request->has_directory) /* no trigger has taken it */
		close(request->directory);
	return result;
}

/* The filter, too, as far as it can be told without an event. */
int tp_trigger_check(struct tp_trigger_request *request)
{
	struct tp_trigger_text text;
	struct tp_filter_error wrong = {.error = 0};
	int error;

	struct tp_pattern *patterns = tp_pattern_new(request->patterns, &error);
	if (patterns)
		tp_pattern_free(patterns);
	if (error)
		return error == -EINVAL ? refuse(request, NO_PATTERNS) : error;
	error = parse(request, &text);
	if (error)
		return error;
	if (text.remove)
		error = refuse(request, "there is none to be taken off");
	if (!error && text.filter) {
		tp_filter_free(tp_filter_new(text.filter, &wrong));
		error = wrong.error;
	}
	if (wrong.error == -EINVAL)
		tp_filter_error_print_line(&request->text, text.filter, &wrong);
	tp_filter_error_free(&wrong);
	tp_trigger_text_free(&text);
	return error;
}

int tp_trigger(struct tp_sink *sink, const char *patterns, const char *trigger, char **error)
{
	struct tp_trigger_request request = {.sink = sink, .patterns = patterns, .trigger = trigger};
	const int result = tp_trigger_request(&request);

	if (error)
		*error = request.text.text;
	else
		tp_buffer_free(&request.text);
	return result;
}
