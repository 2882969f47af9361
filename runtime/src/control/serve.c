/* SPDX-License-Identifier: MIT */
/*
 * control/serve.c - see serve.h.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "control/outputs.h"
#include "control/request.h"
#include "control/serve.h"
#include "events/events.h"
#include "print/symbol.h"

#define PROTOCOL 1

static struct timespec since;

void tp_serve_start(void)
{
	clock_gettime(CLOCK_REALTIME, &since);
}

static const struct {
	const char *name;
	void (*serve)(struct tp_request *request, char *arguments);
} requests[] = {
	{"events", tp_request_events},   {"formats", tp_request_formats}, {"outputs", tp_request_outputs},
	{"open", tp_request_open},       {"keep", tp_request_keep},       {"close", tp_request_close},
	{"enable", tp_request_enable},   {"disable", tp_request_disable}, {"report", tp_request_report},
	{"snapshot", tp_request_snapshot}, {"trigger", tp_request_trigger}, {"triggers", tp_request_triggers},
	{"histograms", tp_request_histograms}, {"tracing", tp_request_tracing},
	{"synthetic", tp_request_synthetic}, {"synthetics", tp_request_synthetics},
};

void tp_serve(struct tp_request *request, char *line)
{
	const char *name = tp_request_word(&line);

	tp_objects_learn();
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

void tp_serve_greeting(struct tp_buffer *reply)
{
	unsigned int events = 0, outputs = 0;

	tp_for_each_event(count_event, &events);
	tp_sinks_each(count_output, &outputs);
	tp_buffer_printf(reply, "tp %d pid=%d uid=%u events=%u outputs=%u since=%lld.%09ld version=" TP_VERSION " program=", PROTOCOL,
			 (int)getpid(), (unsigned int)geteuid(), events, outputs, (long long)since.tv_sec, since.tv_nsec);
	tp_request_put_name(reply, tp_program_name);
}

void tp_serve_end(uint64_t session)
{
	struct tp_buffer messages = {.text = NULL};
	uint64_t serial;

	tp_message_capture(&messages); /* what was lost is no concern of the program's */
	while (tp_outputs_take_of_session(session, &serial))
		tp_sink_close_serial(serial);
	tp_message_capture(NULL);
	tp_buffer_free(&messages);
}
