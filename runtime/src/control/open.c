/* SPDX-License-Identifier: MIT */
/*
 * control/open.c - the request that opens an output.
 */
#include <errno.h>
#include <string.h>

#include <tp/tp.h>

#include "base/message.h"
#include "control/outputs.h"
#include "control/request.h"
#include "events/events.h"
#include "sinks/ctf/ctf.h"
#include "sinks/hist/hist.h"
#include "sinks/latency/latency.h"
#include "sinks/perfetto/perfetto.h"
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

static struct tp_sink *open_perfetto(char *name, int fd)
{
	return tp_perfetto_sink_in(fd, name);
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

/* What follows "hist:" in a trigger, without a filter, which belongs to the events. */
static struct tp_sink *open_hist(char *text, int fd)
{
	struct tp_filter_error wrong;
	struct tp_buffer why = {.text = NULL};
	struct tp_hist_definition *definition = tp_hist_definition_new(text, &wrong);
	struct tp_sink *sink = definition ? tp_hist_sink(definition, NULL, &wrong) : NULL;

	(void)fd;
	if (sink)
		return sink;
	tp_filter_error_print_line(&why, text, &wrong);
	if (wrong.error == -EINVAL && !why.failed)
		tp_complain("%s", why.text);
	errno = -wrong.error;
	tp_buffer_free(&why);
	tp_filter_error_free(&wrong);
	return NULL;
}

static struct tp_sink *open_latency(char *name, int fd)
{
	const char *options = take_options(name);

	(void)fd;
	return tp_latency_sink(name, NULL, options);
}

static const struct kind {
	const char *name;
	const char *descriptor; /* what it must be of; NULL: there is none */
	bool written;           /* as in TP_OUTPUT: there is nothing to finish */
	struct tp_sink *(*open)(char *name, int fd);
} kinds[] = {
	{"text", "a socket, a pipe, a terminal or a file for its lines", true, open_text},
	{"ctf", "an empty directory for the trace", false, open_ctf},
	{"perfetto", "an empty file for the trace", false, open_perfetto},
	{"stats", NULL, true, open_stats},
	{"hist", NULL, true, open_hist},
	{"latency", NULL, true, open_latency},
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
		tp_request_fail_with(request, error, &messages);
	tp_buffer_free(&full);
	tp_buffer_free(&messages);
}

void tp_request_open(struct tp_request *request, char *arguments)
{
	const char *word = tp_request_word(&arguments);
	const struct kind *kind = find_kind(word);

	if (!kind)
		tp_request_fail(request, EINVAL, "there is no kind of output '%s'; there are text, ctf, perfetto, stats, hist, latency, ftrace, sdt and lttng",
				word ? word : "");
	else if (kind->descriptor && request->fd < 0)
		tp_request_fail(request, EBADF, "open %s comes with a descriptor, of %s", kind->name, kind->descriptor);
	else
		open_kind(request, kind, arguments);
}
