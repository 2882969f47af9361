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

#include "report/batch.h"
#include "report/progress.h"
#include "select/selection.h"

struct reporter {
	struct traces traces;
	struct selection *selection; /* NULL: all events */
	struct merge merge;
	struct batch *batch;
	struct progress progress;
	uint64_t since, until;
};

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

	if (is_shown && reporter->selection)
		is_shown = selection_wants(reporter->selection, merged->trace_nr, merged->trace, event);
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

static bool select_events(struct reporter *reporter, const char *rules)
{
	if (!rules)
		return true;
	reporter->selection = selection_new(rules);
	return reporter->selection && selection_check(reporter->selection, &reporter->traces);
}

bool report_write(const struct report *report)
{
	struct reporter reporter = {.batch = NULL};
	bool good = traces_open(&reporter.traces, report->paths, report->nr_paths) &&
		    select_events(&reporter, report->events) &&
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
	selection_free(reporter.selection);
	traces_close(&reporter.traces);
	return good;
}
