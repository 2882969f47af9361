/* SPDX-License-Identifier: MIT */
/*
 * control/change.c - requests about outputs that are open: what is enabled on them, and whether they stay.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "control/outputs.h"
#include "control/request.h"
#include "events/events.h"
#include "events/pattern.h"
#include "sinks/ctf/ctf.h"
#include "sinks/hist/hist.h"

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
		tp_request_fail_patterns(request, patterns);
	else
		tp_request_fail_with(request, -result, messages);
}

static void change(struct tp_request *request, char *patterns, const char *filter, change_fn *how)
{
	struct tp_enable_report report = {.in_a_line = true};
	struct tp_buffer messages = {.text = NULL};
	uint64_t id;

	if (!tp_request_id(request, &patterns, &id))
		return;
	struct tp_sink *sink = tp_request_hold_to_change(request, id);
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

/* The filter of all rules of a sink that enable. */
struct common_filter {
	const struct tp_sink *sink;
	unsigned int nr; /* rules */
	bool differ;
	struct tp_buffer text; /* empty: they have none */
};

static void add_rule(bool enable, const char *patterns, const char *filter, void *data)
{
	struct common_filter *common = data;

	(void)patterns;
	if (!enable)
		return;
	if (common->nr++ == 0)
		tp_buffer_printf(&common->text, "%s", filter ? filter : "");
	else if (!common->text.failed && strcmp(common->text.text, filter ? filter : "") != 0)
		common->differ = true;
}

static void add_rules(const struct tp_sink_view *view, void *data)
{
	if (view->sink == ((const struct common_filter *)data)->sink)
		tp_sink_view_rules(view, add_rule, data);
}

/* As the kernel shows it behind the definition, where a histogram is of one event. */
static void show_filter(struct tp_sink *hist)
{
	struct common_filter common = {.sink = hist};

	tp_sinks_each(add_rules, &common);
	tp_hist_show_filter(hist, common.differ || common.text.failed || !common.text.len ? NULL : common.text.text);
	tp_buffer_free(&common.text);
}

/* A histogram that none of the events has the fields of would stay empty. */
static int enable(struct tp_sink *sink, const char *patterns, const char *filter, struct tp_enable_report *report)
{
	struct tp_filter_error wrong;

	if (tp_is_hist(sink) && tp_hist_fits(sink, patterns, &wrong) < 0 && wrong.error == -EINVAL) {
		tp_filter_error_print_line(&report->text, tp_hist_definition_text(sink), &wrong);
		tp_filter_error_free(&wrong);
		return -EINVAL;
	}
	const int result = tp_enable_filtered(sink, patterns, filter, report);
	if (tp_is_hist(sink) && result >= 0) {
		show_filter(sink);
		tp_hist_put_doubts(sink, false, &report->text);
	}
	return result;
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

	change(request, arguments, filter, enable);
}

void tp_request_disable(struct tp_request *request, char *arguments)
{
	change(request, arguments, NULL, disable);
}

/* ---- Whether it records ---- */

void tp_request_tracing(struct tp_request *request, char *arguments)
{
	uint64_t id;

	if (!tp_request_id(request, &arguments, &id))
		return;
	const char *state = arguments ? arguments : "";
	const bool on = strcmp(state, "on") == 0;
	if (!on && strcmp(state, "off") != 0) {
		tp_request_fail(request, EINVAL, "tracing is on or off, not '%.64s'", state);
		return;
	}
	struct tp_sink *sink = tp_request_hold_to_change(request, id);
	if (!sink)
		return;
	if (on)
		tp_tracing_on(sink);
	else
		tp_tracing_off(sink);
	tp_sink_let_go(sink);
	tp_buffer_printf(&request->reply, "ok\n");
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
		tp_request_fail_with(request, error, &messages);
	tp_buffer_free(&messages);
}
