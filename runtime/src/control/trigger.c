/* SPDX-License-Identifier: MIT */
/*
 * control/trigger.c - requests about triggers. What is set here lasts: until it is taken off, or its output is closed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "control/request.h"
#include "events/events.h"
#include "triggers/triggers.h"

/* In place of an output's id. */
#define NO_OUTPUT "-"

static void put_trigger(uint64_t serial, const char *patterns, const char *text, void *data)
{
	struct tp_buffer *to = data;

	if (serial)
		tp_buffer_printf(to, "trigger %llu ", (unsigned long long)serial);
	else
		tp_buffer_printf(to, "trigger " NO_OUTPUT " ");
	for (; *patterns; patterns++) { /* which are one word here */
		if ((unsigned char)*patterns > ' ')
			tp_buffer_printf(to, "%c", *patterns);
	}
	tp_buffer_printf(to, " ");
	tp_request_put_name(to, text);
}

void tp_request_triggers(struct tp_request *request, char *arguments)
{
	(void)arguments;
	tp_triggers_each(put_trigger, &request->reply);
	tp_buffer_printf(&request->reply, "ok\n");
}

static void answer(struct tp_request *request, int result, const struct tp_buffer *text, const struct tp_buffer *messages)
{
	if (result >= 0 && text->len)
		tp_buffer_printf(&request->reply, "note %s\n", text->text);
	if (result >= 0)
		tp_buffer_printf(&request->reply, "ok %d\n", result);
	else if (text->len)
		tp_request_fail(request, -result, "%s", text->text);
	else
		tp_request_fail_with(request, -result, messages);
}

/* A directory that has come with the request is for snapshots. */
static void set(struct tp_request *request, struct tp_sink *sink, char *arguments)
{
	const char *patterns = tp_request_word(&arguments);
	struct tp_buffer messages = {.text = NULL};
	struct tp_trigger_request trigger = {
		.sink = sink, .patterns = patterns, .trigger = arguments, .in_a_line = true,
		.has_directory = request->fd >= 0, .directory = request->fd,
	};

	request->fd = -1;
	tp_message_capture(&messages);
	const int result = tp_trigger_request(&trigger);
	tp_message_capture(NULL);
	answer(request, result, &trigger.text, &messages);
	tp_buffer_free(&trigger.text);
	tp_buffer_free(&messages);
}

void tp_request_trigger(struct tp_request *request, char *arguments)
{
	const bool no_output = arguments && strncmp(arguments, NO_OUTPUT " ", strlen(NO_OUTPUT " ")) == 0;
	uint64_t id;

	if (no_output) {
		set(request, NULL, arguments + strlen(NO_OUTPUT " "));
		return;
	}
	if (!tp_request_id(request, &arguments, &id))
		return;
	struct tp_sink *sink = tp_request_hold_to_change(request, id);
	if (!sink)
		return;
	set(request, sink, arguments);
	tp_sink_let_go(sink);
}
