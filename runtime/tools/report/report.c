/* SPDX-License-Identifier: MIT */
/*
 * report.c - the way of events to the output:
 *
 *	report.c             which events
 *	  merge.c            all streams in the order of time
 *	  batch.c            lines
 *	    printer.c        a process that makes texts
 *	    values.c         a record by its fields
 *	    stack.c          a stack, with the names of its functions
 *	      mappings.c     where code was
 *	      code_files.c   the files that it came from
 *	    line.c           what a line may hold
 *	  when.c             times
 *	  progress.c         a bar
 */
#include "report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/pattern.h"
#include "report/batch.h"
#include "report/progress.h"
#include "fail_msg.h"

struct reporter {
	struct traces traces;
	bool **is_wanted; /* of each trace, by id; NULL: all are */
	struct merge merge;
	struct batch *batch;
	struct progress progress;
	uint64_t since, until;
};

/* ---- Which events ---- */

/* Whether one of them matches at least. */
static bool select_events(bool *is_wanted, const struct formats *formats, const struct tp_pattern *pattern)
{
	bool any = false;

	for (uint32_t id = 0; id < NR_EVENT_IDS; id++) {
		const struct event_format *format = formats->by_id[id];
		char *full_name;
		size_t len;
		if (!format)
			continue;
		const char *name = format_event_name(format, &len);
		if (asprintf(&full_name, "%s:%.*s", format->system, (int)len, name) < 0)
			return fail_no_memory();
		is_wanted[id] = tp_pattern_matches(pattern, full_name);
		any = any || is_wanted[id];
		free(full_name);
	}
	return any;
}

static bool select_all(struct reporter *reporter, const char *events, const struct tp_pattern *pattern)
{
	const struct traces *traces = &reporter->traces;
	bool any = false;

	reporter->is_wanted = calloc(traces->nr, sizeof(*reporter->is_wanted));
	for (size_t t = 0; reporter->is_wanted && t < traces->nr; t++) {
		reporter->is_wanted[t] = calloc(NR_EVENT_IDS, sizeof(**reporter->is_wanted));
		if (!reporter->is_wanted[t])
			return fail_no_memory();
		any = select_events(reporter->is_wanted[t], &traces->traces[t].formats, pattern) || any;
	}
	if (!reporter->is_wanted)
		return fail_no_memory();
	return any || fail_msg("no event in '%s'%s matches '%s'", traces->paths[0], traces->nr > 1 ? " and the others" : "",
			   events);
}

static bool read_patterns(struct reporter *reporter, const char *events)
{
	struct tp_pattern *pattern;
	int error;

	if (!events)
		return true;
	pattern = tp_pattern_new(events, &error);
	if (!pattern)
		return error == -ENOMEM ? fail_no_memory() :
		       fail_msg("'%s' is no list of events: give one such as 'net:*,!net:net_close'", events);
	bool good = select_all(reporter, events, pattern);
	tp_pattern_free(pattern);
	return good;
}

/* ---- When ---- */

static uint64_t resolve(const struct when *when, uint64_t begin, uint64_t end, uint64_t without)
{
	if (!when)
		return without;
	switch (when->base) {
	case WHEN_FROM_BEGIN:
		return when->ns > UINT64_MAX - begin ? UINT64_MAX : begin + when->ns;
	case WHEN_BEFORE_END:
		return when->ns > end ? 0 : end - when->ns;
	default:
		return when->ns;
	}
}

/* ---- All of it ---- */

static bool show(struct reporter *reporter, const struct merged *merged)
{
	const struct event *event = &merged->event;
	bool is_shown = event->format && event->time >= reporter->since;

	if (is_shown && reporter->is_wanted)
		is_shown = reporter->is_wanted[merged->trace_nr][event->format->id];
	if (!is_shown && (!merged->lost || event->time < reporter->since))
		return true;
	return batch_add(reporter->batch, merged, is_shown);
}

static bool show_all(struct reporter *reporter, const struct report *report)
{
	struct merge *merge = &reporter->merge;
	enum packet_result result;
	struct merged merged;
	uint64_t nr = 0;

	while ((result = merge_next(merge, &merged)) == PACKET_EVENT) {
		if (nr++ == 0) { /* this is the beginning of the trace */
			const uint64_t end = merge_end(merge);
			reporter->since = merge->since = resolve(report->since, merged.event.time, end, 0);
			reporter->until = resolve(report->until, merged.event.time, end, UINT64_MAX);
		}
		if (merged.event.time > reporter->until)
			return true;
		if (!show(reporter, &merged))
			return false;
		if (nr % 1024 == 0)
			progress_show(&reporter->progress, merge->done, merge->total);
	}
	return result == PACKET_END;
}

bool report_write(const struct report *report)
{
	struct reporter reporter = {.batch = NULL};
	bool good = traces_open(&reporter.traces, report->paths, report->nr_paths) &&
		    read_patterns(&reporter, report->events) &&
		    merge_begin(&reporter.merge, reporter.traces.traces, reporter.traces.nr);

	if (good) {
		reporter.batch = batch_new(&reporter.traces, report->style, report->with_fields);
		progress_begin(&reporter.progress);
		good = reporter.batch && show_all(&reporter, report);
		progress_end(&reporter.progress);
		/* What came in front of the failure is shown in any case. */
		good = reporter.batch && batch_flush(reporter.batch) && good;
	}
	batch_free(reporter.batch);
	merge_free(&reporter.merge);
	for (size_t t = 0; reporter.is_wanted && t < reporter.traces.nr; t++)
		free(reporter.is_wanted[t]);
	free(reporter.is_wanted);
	traces_close(&reporter.traces);
	return good;
}
