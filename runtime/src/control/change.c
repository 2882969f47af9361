/* SPDX-License-Identifier: MIT */
/*
 * control/change.c - requests that open and close outputs, and change what is
 * enabled on them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "control/commands.h"
#include "control/outputs.h"
#include "events/events.h"
#include "events/pattern.h"
#include "sinks/ctf/ctf.h"
#include "sinks/stats/stats.h"
#include "sinks/text/text.h"

/* NAME[,OPTION...] becomes NAME; the options, or NULL. */
static char *take_options(char *name)
{
	char *options = strchr(name, ',');

	if (options)
		*options++ = '\0';
	return options;
}

/* ---- Opening: NULL with errno set ---- */

static struct tp_sink *open_text(char *name, int fd)
{
	(void)name;
	return tp_text_descriptor_sink(fd);
}

static struct tp_sink *open_ctf(char *name, int fd)
{
	const char *options = take_options(name);

	return tp_ctf_sink_in(fd, name, options);
}

static struct tp_sink *open_stats(char *name, int fd)
{
	const char *options = take_options(name);

	(void)fd;
	return tp_stats_sink_without_file(name, options);
}

/* Not by a path: that is for who may open it. */
static struct tp_sink *open_ftrace(char *instance, int fd)
{
	(void)fd;
	if (!strchr(instance, '/'))
		return tp_ftrace_sink(instance);
	tp_complain("an instance of ftrace is called by its name here, without a '/'");
	errno = EINVAL;
	return NULL;
}

static struct tp_sink *open_sdt(char *name, int fd)
{
	(void)name;
	(void)fd;
	return tp_sdt_sink();
}

static struct tp_sink *open_lttng(char *name, int fd)
{
	(void)name;
	(void)fd;
	return tp_lttng_sink();
}

static const struct kind {
	const char *name;
	const char *descriptor; /* what it must be of; NULL: there is none */
	bool written;           /* as in TP_OUTPUT: there is nothing to finish */
	struct tp_sink *(*open)(char *name, int fd);
} kinds[] = {
	{"text", "a socket, a pipe, a terminal or a file for its lines", true, open_text},
	{"ctf", "an empty directory for the trace", false, open_ctf},
	{"stats", NULL, true, open_stats},
	{"ftrace", NULL, true, open_ftrace},
	{"sdt", NULL, true, open_sdt},
	{"lttng", NULL, true, open_lttng},
};

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* What the runtime has said meanwhile is why; else the errno's text is. */
static void fail_with_messages(struct tp_request *request, int error, const struct tp_buffer *messages)
{
	if (messages->len)
		tp_request_fail(request, error, "%s", messages->text);
	else
		tp_request_fail(request, error, "%s", tp_strerror(error));
}

/* The sink is the session's, and listed by this name. */
static void add(struct tp_request *request, const struct kind *kind, struct tp_sink *sink, const struct tp_buffer *name)
{
	const struct tp_output_info info = {.owner = TP_OUTPUT_SESSION, .session = request->session, .written = kind->written};
	const uint64_t serial = tp_sink_serial(sink);

	if (!name->failed && tp_outputs_add(sink, name->text, &info)) {
		tp_buffer_printf(&request->reply, "ok %llu\n", (unsigned long long)serial);
		return;
	}
	tp_sink_close(sink);
	tp_request_fail(request, ENOMEM, "the process has no memory");
}

static void open_kind(struct tp_request *request, const struct kind *kind, char *name)
{
	struct tp_buffer messages = {.text = NULL}, full = {.text = NULL};
	const int fd = kind->descriptor ? request->fd : -1;

	if (kind->descriptor)
		request->fd = -1; /* the sink's, or closed */
	tp_buffer_printf(&full, "%s:%s", kind->name, name);
	tp_message_capture(&messages);
	errno = 0;
	struct tp_sink *sink = kind->open(name, fd);
	const int error = errno ? errno : EINVAL;
	tp_message_capture(NULL);
	if (sink)
		add(request, kind, sink, &full);
	else
		fail_with_messages(request, error, &messages);
	tp_buffer_free(&full);
	tp_buffer_free(&messages);
}

void tp_request_open(struct tp_request *request, char *arguments)
{
	const char *word = tp_request_word(&arguments);
	const struct kind *kind = find_kind(word);

	if (!kind)
		tp_request_fail(request, EINVAL, "there is no kind of output '%s'; there are text, ctf, stats, ftrace, sdt and lttng",
				word ? word : "");
	else if (kind->descriptor && request->fd < 0)
		tp_request_fail(request, EBADF, "open %s comes with a descriptor, of %s", kind->name, kind->descriptor);
	else
		open_kind(request, kind, arguments);
}

/* ---- Outputs that are open ---- */

void tp_request_keep(struct tp_request *request, char *arguments)
{
	uint64_t id;

	if (!tp_request_id(request, &arguments, &id))
		return;
	if (tp_outputs_keep(id, request->session))
		tp_buffer_printf(&request->reply, "ok\n");
	else
		tp_request_fail(request, EPERM, "output %llu is none that this connection has opened", (unsigned long long)id);
}

static const char *why_not_closed(const struct tp_output_info *info)
{
	switch (info->owner) {
	case TP_OUTPUT_SESSION:
		return "belongs to another connection, which is open";
	case TP_OUTPUT_ENVIRONMENT:
		return "is in use by the program itself, by tp_output()";
	default:
		return "was opened by the program itself, which closes it; disable takes events off it";
	}
}

void tp_request_close(struct tp_request *request, char *arguments)
{
	struct tp_buffer messages = {.text = NULL};
	struct tp_output_info info;
	uint64_t id;

	if (!tp_request_id(request, &arguments, &id))
		return;
	if (!tp_outputs_take(id, request->session, &info)) {
		if (tp_sink_of_serial(id))
			tp_request_fail(request, EPERM, "output %llu %s", (unsigned long long)id, why_not_closed(&info));
		else
			tp_request_no_output(request, id);
		return;
	}
	tp_message_capture(&messages); /* what was lost, the other side has counted */
	const int error = -tp_sink_close_serial(id);
	tp_message_capture(NULL);
	tp_buffer_free(&messages);
	if (error == ENOENT)
		tp_request_no_output(request, id);
	else if (error)
		tp_request_fail(request, error, "output %llu is closed, but not all was written: %s", (unsigned long long)id,
				tp_strerror(error));
	else
		tp_buffer_printf(&request->reply, "ok\n");
}

/* ---- What is enabled ---- */

typedef int change_fn(struct tp_sink *sink, const char *patterns, const char *filter, struct tp_enable_report *report);

/* What is wrong, or what did not become of it. */
static void answer_change(struct tp_request *request, const char *patterns, int result, const struct tp_enable_report *report,
			  const struct tp_buffer *messages)
{
	if (result >= 0 && report->text.len)
		tp_buffer_printf(&request->reply, "note %s\n", report->text.text);
	if (result >= 0)
		tp_buffer_printf(&request->reply, "ok %d\n", result);
	else if (report->text.len)
		tp_request_fail(request, -result, "%s", report->text.text);
	else if (result == -EINVAL)
		tp_request_fail(request, EINVAL, "'%s' is no list of patterns; for example: sched:*,!sched:sched_wakeup", patterns);
	else
		fail_with_messages(request, -result, messages);
}

static void change(struct tp_request *request, char *patterns, const char *filter, change_fn *how)
{
	struct tp_enable_report report = {.in_a_line = true};
	struct tp_buffer messages = {.text = NULL};
	uint64_t id;

	if (!tp_request_id(request, &patterns, &id))
		return;
	const struct tp_output_info info = tp_outputs_info(id);
	if (info.owner == TP_OUTPUT_SESSION && info.session != request->session) {
		tp_request_fail(request, EPERM, "output %llu belongs to another connection", (unsigned long long)id);
		return;
	}
	struct tp_sink *sink = tp_request_hold(request, id);
	if (!sink)
		return;
	tp_message_capture(&messages);
	const int result = how(sink, patterns, filter, &report);
	tp_message_capture(NULL);
	tp_sink_let_go(sink);
	answer_change(request, patterns, result, &report, &messages);
	tp_buffer_free(&report.text);
	tp_buffer_free(&messages);
}

static int disable(struct tp_sink *sink, const char *patterns, const char *filter, struct tp_enable_report *report)
{
	(void)filter;
	(void)report;
	return tp_disable(sink, patterns);
}

void tp_request_enable(struct tp_request *request, char *arguments)
{
	const char *filter = arguments ? tp_pattern_take_filter(arguments) : NULL;

	change(request, arguments, filter, tp_enable_filtered);
}

void tp_request_disable(struct tp_request *request, char *arguments)
{
	change(request, arguments, NULL, disable);
}

/* ---- Snapshots ---- */

void tp_request_snapshot(struct tp_request *request, char *arguments)
{
	struct tp_buffer messages = {.text = NULL};
	uint64_t id;

	if (!tp_request_id(request, &arguments, &id))
		return;
	if (request->fd < 0) {
		tp_request_fail(request, EBADF, "snapshot comes with a descriptor, of an empty directory for the copy");
		return;
	}
	struct tp_sink *sink = tp_request_hold(request, id);
	if (!sink)
		return;
	tp_message_capture(&messages);
	const int error = -tp_ctf_snapshot_in(sink, request->fd, arguments);
	tp_message_capture(NULL);
	request->fd = -1;
	tp_sink_let_go(sink);
	if (!error)
		tp_buffer_printf(&request->reply, "ok\n");
	else if (error == EINVAL || error == ENOTSUP)
		tp_request_fail(request, error, "output %llu is no flight recorder", (unsigned long long)id);
	else
		fail_with_messages(request, error, &messages);
	tp_buffer_free(&messages);
}
