/* SPDX-License-Identifier: MIT */
/*
 * control/request.c - a request, from the line to the reply.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "control/control.h"
#include "control/outputs.h"
#include "control/request.h"
#include "events/events.h"

#define PROTOCOL 1

/* ---- Replies ---- */

static const char *name_of(int error)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 32)
	const char *name = strerrorname_np(error);

	return name ? name : "EIO";
#else
	return error == EINVAL ? "EINVAL" : error == ENOENT ? "ENOENT" : "EIO";
#endif
}

void tp_request_fail(struct tp_request *request, int error, const char *fmt, ...)
{
	char text[2048];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	for (char *at = text; *at; at++) { /* it may be made of several messages */
		if (*at == '\n')
			*at = at[1] ? ';' : '\0';
	}
	tp_buffer_printf(&request->reply, "error %s %s\n", name_of(error), text);
}

/* ---- Words ---- */

char *tp_request_word(char **arguments)
{
	char *word = *arguments;

	if (!word || !*word)
		return NULL;
	char *blank = strchr(word, ' ');
	*arguments = blank ? blank + 1 : word + strlen(word);
	if (blank)
		*blank = '\0';
	return word;
}

bool tp_request_id(struct tp_request *request, char **arguments, uint64_t *id)
{
	const char *word = tp_request_word(arguments);
	char *end;

	errno = 0;
	*id = word && *word >= '0' && *word <= '9' ? strtoull(word, &end, 10) : 0;
	if (*id && !*end && !errno)
		return true;
	tp_request_fail(request, EINVAL, "'%s' is no output's id; \"outputs\" lists them", word ? word : "");
	return false;
}

/* ---- Requests ---- */

static const struct {
	const char *name;
	void (*serve)(struct tp_request *request, char *arguments);
} requests[] = {
	{"events", tp_request_events},   {"formats", tp_request_formats}, {"outputs", tp_request_outputs},
	{"open", tp_request_open},       {"keep", tp_request_keep},       {"close", tp_request_close},
	{"enable", tp_request_enable},   {"disable", tp_request_disable}, {"report", tp_request_report},
	{"snapshot", tp_request_snapshot},
};

void tp_request_serve(struct tp_request *request, char *line)
{
	const char *name = tp_request_word(&line);

	for (size_t i = 0; name && i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(requests[i].name, name) == 0) {
			requests[i].serve(request, line);
			return;
		}
	}
	tp_request_fail(request, ENOSYS, "there is no request '%.64s' in version %d of the protocol", name ? name : "", PROTOCOL);
}

static void count_event(const struct tp_event *event, void *data)
{
	(void)event;
	++*(unsigned int *)data;
}

static void count_output(const struct tp_sink_view *view, void *data)
{
	(void)view;
	++*(unsigned int *)data;
}

void tp_request_greet(struct tp_buffer *reply)
{
	unsigned int events = 0, outputs = 0;
	const struct timespec since = tp_control_since();

	tp_for_each_event(count_event, &events);
	tp_sinks_each(count_output, &outputs);
	tp_buffer_printf(reply, "tp %d pid=%d uid=%u events=%u outputs=%u since=%lld.%09ld version=%d.%d.%d program=%s\n", PROTOCOL,
			 (int)getpid(), (unsigned int)geteuid(), events, outputs, (long long)since.tv_sec, since.tv_nsec,
			 TP_VERSION_MAJOR, TP_VERSION_MINOR, TP_VERSION_PATCH, program_invocation_short_name);
}

void tp_request_end(uint64_t session)
{
	struct tp_buffer messages = {.text = NULL};
	uint64_t serial;

	tp_message_capture(&messages); /* what was lost is no concern of the program's */
	while (tp_outputs_take_of_session(session, &serial))
		tp_sink_close_serial(serial);
	tp_message_capture(NULL);
	tp_buffer_free(&messages);
}
