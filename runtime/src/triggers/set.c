/* SPDX-License-Identifier: MIT */
/*
 * triggers/set.c - triggers are set, and taken off: by somebody who asks for it, or as their sink is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/hit.h"
#include "base/stack.h"
#include "base/text.h"
#include "events/events.h"
#include "record/record.h"
#include "triggers/list.h"
#include "triggers/parse.h"
#include "triggers/trigger.h"
#include "triggers/triggers.h"

#define EXISTS "there is such a trigger on one of these events already"
#define EXISTS_HIST "Hist trigger already exists on one of these events" /* the kernel's words */
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
	if (trigger->command->free)
		trigger->command->free(trigger);
	tp_guarded_fd_close(&trigger->directory);
	free(trigger->filter);
	free(trigger->target);
	free(trigger->argument);
	free(trigger);
}

static int take_parts(struct tp_trigger *trigger, struct tp_trigger_request *request, const struct tp_trigger_text *text)
{
	struct tp_filter_error wrong = {.error = 0};
	int error = 0;

	if (trigger->has_directory) {
		error = -tp_guarded_fd_take(&trigger->directory, request->directory);
		request->has_directory = false; /* it is closed in any case */
	}
	if (!error && text->filter) {
		trigger->filter = strndup(text->filter, text->filter_len);
		error = trigger->filter ? 0 : -ENOMEM;
	}
	if (!error && trigger->command->parse && trigger->command->parse(trigger, &wrong) != 0)
		error = tp_trigger_tell_wrong(request, &wrong, text->argument_at);
	return error;
}

/* Nobody else wants a directory. */
static bool takes_snapshots(const struct tp_trigger_text *text)
{
	return text->command->kind == TP_TRIGGER_SNAPSHOT || (text->command->kind == TP_TRIGGER_HIST && !text->alone);
}

/* Takes what the text has over. NULL: *error is -EINVAL, with a reason in the request, or another. */
static struct tp_trigger *trigger_new(struct tp_trigger_request *request, struct tp_trigger_text *text, int *error)
{
	struct tp_trigger *trigger = tp_malloc(sizeof(*trigger));

	*error = -ENOMEM;
	if (!trigger)
		return NULL;
	*trigger = (struct tp_trigger){
		.command = text->command, .patterns = tp_pattern_new(request->patterns, error), .target = text->target,
		.argument = text->argument, .count = text->count, .after_ns = text->after_ns, .at_end = request->at_end && text->command->open,
		.directory = TP_GUARDED_FD_NONE,
		.has_directory = request->has_directory && takes_snapshots(text),
	};
	if (!text->alone) {
		trigger->sink = request->sink;
		trigger->serial = tp_sink_serial(request->sink);
	}
	text->target = text->argument = NULL;
	if (*error == -EINVAL)
		tp_buffer_printf(&request->text, NO_PATTERNS);
	if (!*error)
		*error = take_parts(trigger, request, text);
	if (!*error)
		return trigger;
	trigger_free(trigger);
	return NULL;
}

/* ---- Setting it ---- */

/*
 * Whether what the command makes fits any of the events: 0; or the error. One that waits for other events is not wrong, but
 * the text says why it has none of those that there are.
 */
static int check_fits(struct tp_trigger *trigger, struct tp_trigger_request *request, const char *patterns, size_t argument_at)
{
	struct tp_filter_error wrong = {.error = 0};
	const int fits = trigger->command->fits ? trigger->command->fits(trigger, patterns, &wrong) : 0;

	if (fits >= 0)
		return 0;
	if (fits == -EINVAL && request->waits)
		tp_buffer_printf(&request->text, "it fits none of the events that there are: ");
	const int error = tp_trigger_tell_wrong(request, &wrong, argument_at);
	return error == -EINVAL && request->waits ? 0 : error;
}

/* The number of events that fire it, or an error. */
static int arm(struct tp_trigger *trigger, struct tp_trigger_request *request, size_t argument_at)
{
	struct tp_enable_report report = {.in_a_line = request->in_a_line, .waits = request->waits};
	const char *patterns = tp_pattern_text(trigger->patterns);

	tp_sink_hide(trigger->own);
	/* If it asks for snapshots, the event that does so is in them. */
	tp_sink_set_priority(trigger->own, trigger->snapshot ? tp_trigger_snapshot.priority : trigger->command->priority);
	const int error = check_fits(trigger, request, patterns, argument_at);
	if (error)
		return error;
	const int result = tp_enable_filtered(trigger->own, patterns, trigger->filter, &report);
	if (report.text.text) { /* not where it fits nothing: a filter is looked at for events that fit */
		tp_buffer_free(&request->text);
		request->text = report.text;
	}
	return result;
}

static void close_own(struct tp_trigger *trigger)
{
	if (trigger->own)
		tp_sink_close(trigger->own);
	trigger->own = NULL;
}

static int open_own(struct tp_trigger *trigger)
{
	if (trigger->own) /* its command has made it */
		return 0;
	const int error = tp_sink_open(&trigger->head, &trigger_ops);
	if (!error)
		trigger->own = &trigger->head;
	return error;
}

/* The kernel refuses it; here, a module may bring it later. Of one that waits from the start on, the end tells. */
static void tell_unknown_target(const struct tp_trigger *trigger, struct tp_trigger_request *request)
{
	if (!trigger->target || request->waits || tp_events_know(trigger->target))
		return;
	tp_buffer_printf(&request->text, "%sno event of this program is called '%s' now; it counts when a module that has it is loaded",
			 request->text.len ? "; " : "", trigger->target);
}

/* If that fails, what it has done is left to end(). */
static int begin(struct tp_trigger *trigger, struct tp_trigger_request *request, size_t argument_at, bool *begun)
{
	int result = trigger->command->begin ? trigger->command->begin(trigger, &request->text) : 0;

	*begun = !result;
	if (!result)
		result = open_own(trigger);
	return result ? result : arm(trigger, request, argument_at);
}

/* It was set, and nobody finds it any more. */
static void end(struct tp_trigger *trigger)
{
	close_own(trigger);
	if (trigger->command->end)
		trigger->command->end(trigger);
	trigger_free(trigger);
}

/* It could not be set, or only names another. */
static void drop(struct tp_trigger *trigger)
{
	close_own(trigger);
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

static int link_and_begin(struct tp_trigger *trigger, struct tp_trigger_request *request, size_t argument_at)
{
	int result = tp_trigger_link(trigger);
	bool begun;

	if (result == -EEXIST)
		tp_buffer_printf(&request->text, "%s; take that off first", trigger->command->kind == TP_TRIGGER_HIST ? EXISTS_HIST : EXISTS);
	if (result)
		return result;
	result = begin(trigger, request, argument_at, &begun);
	if (result >= 0) {
		tell_unknown_target(trigger, request);
		if (trigger->command->doubt)
			trigger->command->doubt(trigger, request->waits, &request->text);
		tp_trigger_is_set(trigger); /* from here on, somebody else may take it off */
		return result;
	}
	tp_trigger_unlink(trigger); /* first: whoever goes through the list looks at its sink */
	close_own(trigger);
	if (begun && trigger->command->end)
		trigger->command->end(trigger);
	return result;
}

static int set(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	struct tp_filter_error wrong = {.error = 0};
	int result;
	struct tp_trigger *trigger = trigger_new(request, text, &result);

	if (!trigger)
		return result;
	const struct tp_trigger_command *command = trigger->command;
	tp_sinks_listen(sink_is_closing);
	const int changed = command->change ? command->change(trigger) : 0;
	if (changed) {
		drop(trigger);
		return changed < 0 ? changed : 0;
	}
	if (command->open && command->open(trigger, &wrong) != 0)
		result = tp_trigger_tell_wrong(request, &wrong, text->argument_at);
	if (!result)
		result = link_and_begin(trigger, request, text->argument_at);
	if (result < 0)
		drop(trigger);
	return result;
}

/* ---- Taking it off ---- */

/* As in the kernel, the count is not compared, and the filter only by those that say what is the same. */
static bool is_named(const struct tp_trigger *trigger, const void *data)
{
	const struct tp_trigger *named = data;

	if (trigger->command != named->command || trigger->serial != named->serial ||
	    !tp_pattern_same(trigger->patterns, named->patterns))
		return false;
	if (named->command->is_same)
		return named->command->is_same(named, trigger);
	return !trigger->target || strcmp(trigger->target, named->target) == 0;
}

static int take_off(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	int error;
	struct tp_trigger *named = trigger_new(request, text, &error);

	if (!named)
		return error;
	struct tp_trigger *trigger = tp_trigger_hold(is_named, named);
	drop(named);
	if (!trigger) {
		tp_buffer_printf(&request->text, "there is no such trigger on %s", request->patterns);
		return -ENOENT;
	}
	error = tp_trigger_leave(trigger, &request->text);
	if (!error)
		end(trigger);
	return error;
}

/* ---- Requests ---- */

/* The sink is held meanwhile: whoever closes it waits, and then finds what was set. */
static int on_sink(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	if (text->alone)
		return text->remove ? take_off(request, text) : set(request, text);
	struct tp_sink *sink = request->sink && request->sink->reserved[0] ? tp_sink_hold(tp_sink_serial(request->sink)) : NULL;

	if (!sink)
		return tp_trigger_refuse(request, "this trigger acts on an output, and there is none");
	const int result = text->remove ? take_off(request, text) : set(request, text);
	tp_sink_let_go(sink);
	return result;
}

/* 0, and the text is parsed; or an error, with a reason. */
static int parse(struct tp_trigger_request *request, struct tp_trigger_text *text)
{
	struct tp_filter_error wrong;

	if (!request->patterns || !request->trigger)
		return tp_trigger_refuse(request, "there are no patterns, or there is no trigger");
	const int error = tp_trigger_parse(text, request->trigger, &wrong);
	if (error)
		tp_trigger_tell_wrong(request, &wrong, 0);
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
	if (text.command->kind == TP_TRIGGER_STACKTRACE && !tp_stack_start())
		result = tp_trigger_refuse(request, "stacks can't be read, as libgcc_s.so.1 can't be loaded");
	else
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

/* The filter, and what a histogram is, as far as that can be told without an event. */
static int check_parts(struct tp_trigger_request *request, const struct tp_trigger_text *text)
{
	struct tp_trigger trigger = {.command = text->command, .argument = text->argument};
	struct tp_filter_error wrong = {.error = 0};

	if (text->remove)
		return tp_trigger_refuse(request, "there is none to be taken off");
	if (text->command->parse && text->command->parse(&trigger, &wrong) != 0)
		return tp_trigger_tell_wrong(request, &wrong, text->argument_at);
	if (text->command->free)
		text->command->free(&trigger);
	if (!text->filter)
		return 0;
	struct tp_filter *filter = tp_filter_new(text->filter, &wrong);
	if (!filter)
		return tp_trigger_tell_wrong(request, &wrong, (size_t)(text->filter - request->trigger));
	tp_filter_free(filter);
	return 0;
}

int tp_trigger_check(struct tp_trigger_request *request, bool *alone, char **target)
{
	struct tp_trigger_text text;
	int error;

	struct tp_pattern *patterns = tp_pattern_new(request->patterns, &error);
	if (patterns)
		tp_pattern_free(patterns);
	if (error)
		return error == -EINVAL ? tp_trigger_refuse(request, NO_PATTERNS) : error;
	error = parse(request, &text);
	if (error)
		return error;
	*alone = text.alone;
	error = check_parts(request, &text);
	if (!error) {
		*target = text.target;
		text.target = NULL;
	}
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
