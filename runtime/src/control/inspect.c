/* SPDX-License-Identifier: MIT */
/*
 * control/inspect.c - requests that change nothing.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tp/event.h>
#include <tp/trace_seq.h>

#include "base/message.h"
#include "base/text.h"
#include "control/outputs.h"
#include "control/request.h"
#include "events/events.h"
#include "events/pattern.h"
#include "print/description.h"
#include "record/losses.h"
#include "sinks/hist/hist.h"
#include "sinks/latency/latency.h"
#include "sinks/stats/stats.h"

#define FORMAT_SIZE ((size_t)64 << 10) /* grows, if need be ... */
#define FORMAT_MAX ((size_t)16 << 20)  /* ... up to this */

/* ---- Events ---- */

struct question {
	struct tp_buffer *to;
	struct tp_pattern *pattern; /* NULL: all */
	bool formats;
	const char *between; /* ids of outputs */
};

static void put_output(uint64_t serial, void *data)
{
	struct question *question = data;

	tp_buffer_printf(question->to, "%s%llu", question->between, (unsigned long long)serial);
	question->between = ",";
}

static void put_format(struct tp_buffer *to, const struct tp_event *event)
{
	struct trace_seq seq = {.full = true};

	for (size_t size = FORMAT_SIZE; seq.full && size <= FORMAT_MAX; size *= 4) {
		char *memory = tp_malloc(size);
		if (!memory) {
			to->failed = true;
			return;
		}
		trace_seq_init(&seq, memory, size);
		tp_format_append(event, &seq);
		if (!seq.full)
			tp_request_put_text(to, memory);
		free(memory);
	}
}

static void put_event(const struct tp_event *event, void *data)
{
	struct question *question = data;
	struct tp_buffer name = {.text = NULL};

	tp_buffer_printf(&name, "%s:%s", event->system, event->name);
	if (!name.failed && (!question->pattern || tp_pattern_matches(question->pattern, name.text))) {
		const struct tracepoint *tp = event->tracepoint;
		tp_buffer_printf(question->to, "event %s id=%u level=%d outputs=", name.text, event->id, (int)event->loglevel);
		question->between = "";
		tp_events_sinks(event, put_output, question);
		tp_buffer_printf(question->to, "%s tracepoint=%s place=%s:%d\n", *question->between ? "" : "-", tp->name,
				 tp->file ? tp->file : "", tp->line);
		if (question->formats)
			put_format(question->to, event);
	}
	tp_buffer_free(&name);
}

static void list_events(struct tp_request *request, const char *patterns, bool formats)
{
	struct question question = {.to = &request->reply, .formats = formats};
	int error = 0;

	if (patterns && *patterns)
		question.pattern = tp_pattern_new(patterns, &error);
	if (error) {
		tp_request_fail_patterns(request, patterns);
		return;
	}
	tp_for_each_event(put_event, &question);
	if (question.pattern)
		tp_pattern_free(question.pattern);
	tp_buffer_printf(&request->reply, "ok\n");
}

void tp_request_events(struct tp_request *request, char *arguments)
{
	list_events(request, arguments, false);
}

void tp_request_formats(struct tp_request *request, char *arguments)
{
	list_events(request, arguments, true);
}

/* ---- Outputs ---- */

static const char *owner_of(const struct tp_output_info *info, uint64_t session)
{
	switch (info->owner) {
	case TP_OUTPUT_ENVIRONMENT:
		return "environment";
	case TP_OUTPUT_SESSION:
		return info->session == session ? "session" : "other";
	case TP_OUTPUT_KEPT:
		return "kept";
	default:
		return "program";
	}
}

struct rules {
	struct tp_buffer *to;
	uint64_t serial;
};

static void put_rule(bool enable, const char *patterns, const char *filter, void *data)
{
	const struct rules *rules = data;
	struct tp_buffer text = {.text = NULL};

	tp_buffer_printf(&text, "%s%s%s", patterns, filter ? " if " : "", filter ? filter : "");
	tp_buffer_printf(rules->to, "rule %llu %s ", (unsigned long long)rules->serial, enable ? "enable" : "disable");
	tp_request_put_name(rules->to, text.failed ? "?" : text.text);
	tp_buffer_free(&text);
}

static void put_lost(struct tp_buffer *b, const unsigned long lost[TP_NR_LOST])
{
	for (size_t i = 0; i < TP_NR_LOST; i++)
		tp_buffer_printf(b, "%s%lu", i ? "/" : "", lost[i]);
}

static void put_children(struct tp_buffer *b, const struct tp_sink_view *view)
{
	struct tp_losses_of_child child;

	for (unsigned int at = 0; tp_losses_next(view->losses, &at, &child);) {
		tp_buffer_printf(b, "child %llu %d lost=", (unsigned long long)view->serial, child.pid);
		put_lost(b, child.lost);
		tp_buffer_printf(b, "\n");
	}
}

static void put_output_line(const struct tp_sink_view *view, void *data)
{
	struct tp_request *request = data;
	const struct tp_output_info info = tp_outputs_info(view->serial);

	tp_buffer_printf(&request->reply, "output %llu kind=", (unsigned long long)view->serial);
	for (const char *at = view->kind; *at; at++) /* "CTF", as TP_OUTPUT and "open" write it */
		tp_buffer_printf(&request->reply, "%c", tolower((unsigned char)*at));
	tp_buffer_printf(&request->reply, " owner=%s events=%u lost=", owner_of(&info, request->session), view->nr_attached);
	put_lost(&request->reply, view->lost);
	char *name = tp_outputs_name(view->serial);
	tp_buffer_printf(&request->reply, " tracing=%s name=", view->is_on ? "on" : "off");
	tp_request_put_name(&request->reply, name ? name : view->kind);
	free(name);
	put_children(&request->reply, view);
	tp_sink_view_rules(view, put_rule, &(struct rules){&request->reply, view->serial});
}

void tp_request_outputs(struct tp_request *request, char *arguments)
{
	(void)arguments;
	tp_sinks_each(put_output_line, request);
	tp_buffer_printf(&request->reply, "ok\n");
}

/* ---- Statistics and histograms ---- */

/* False: it is none, and the reply has failed. */
static bool read_form(struct tp_request *request, char **arguments, bool *json)
{
	const char *form = tp_request_word(arguments);

	*json = form && strcmp(form, "json") == 0;
	if (*json || !form || strcmp(form, "text") == 0)
		return true;
	tp_request_fail(request, EINVAL, "a report is text or json, not '%s'", form);
	return false;
}

/* Of lines. */
static void put_notes(struct tp_request *request, const struct tp_buffer *notes)
{
	const char *line = notes->failed ? NULL : notes->text;

	for (; line && *line; line += strcspn(line, "\n") + 1) {
		tp_buffer_printf(&request->reply, "note ");
		tp_buffer_put_plain(&request->reply, line, strcspn(line, "\n"));
		tp_buffer_printf(&request->reply, "\n");
	}
}

static void put_report(struct tp_request *request, const struct tp_buffer *text, const struct tp_buffer *notes)
{
	if (text->failed) {
		tp_request_fail(request, ENOMEM, "the process has no memory");
		return;
	}
	if (text->text)
		tp_request_put_text(&request->reply, text->text);
	put_notes(request, notes);
	tp_buffer_printf(&request->reply, "ok\n");
}

static int report(struct tp_sink *sink, bool json, struct tp_buffer *to)
{
	if (tp_is_latency(sink)) /* tp makes a text of what several processes have measured */
		return tp_latency_report(sink, to);
	return tp_is_hist(sink) ? tp_hist_report(sink, json, to) : tp_stats_report(sink, json, to);
}

void tp_request_report(struct tp_request *request, char *arguments)
{
	struct tp_buffer text = {.text = NULL}, notes = {.text = NULL};
	uint64_t id;
	bool json;

	if (!tp_request_id(request, &arguments, &id) || !read_form(request, &arguments, &json))
		return;
	struct tp_sink *sink = tp_request_hold(request, id);
	if (!sink)
		return;
	const int error = -report(sink, json, &text);
	if (tp_is_hist(sink))
		tp_hist_put_losses(sink, &notes);
	tp_sink_let_go(sink);
	if (error)
		tp_request_fail(request, error, error == EINVAL ? "output %llu is neither statistics, a histogram nor a latency" :
				"output %llu has no report now", (unsigned long long)id);
	else
		put_report(request, &text, &notes);
	tp_buffer_free(&text);
	tp_buffer_free(&notes);
}

void tp_request_histograms(struct tp_request *request, char *arguments)
{
	struct tp_buffer text = {.text = NULL}, notes = {.text = NULL};
	bool json;

	if (!read_form(request, &arguments, &json))
		return;
	const char *patterns = arguments && *arguments ? arguments : "*";
	const int nr = tp_hists_report(patterns, json, &text);
	tp_hists_put_losses(patterns, &notes);
	if (nr == -EINVAL)
		tp_request_fail_patterns(request, patterns);
	else
		put_report(request, &text, &notes);
	tp_buffer_free(&text);
	tp_buffer_free(&notes);
}
