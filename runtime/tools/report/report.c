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
 *	  summary.c          or counts instead of lines
 *	    counts.c
 *	  header.c           what it is a report of
 *	  progress.c         a bar
 *	  interrupt.c        ^C
 */
#include "report/report.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/header.h"
#include "report/interrupt.h"
#include "report/progress.h"
#include "report/summary.h"
#include "select/selection.h"
#include "fail_msg.h"

#define FOLLOW_NS 200000000 /* between two looks at a trace that grows */
#define OPEN_TRIES 5
#define WAIT_MS 100         /* for a terminal that takes no more */

struct reporter {
	const struct report *report;

	/* What one look at the traces needs. */
	struct traces traces;
	struct selection *selection; /* NULL: all events */
	struct merge merge;
	struct batch *batch;
	struct summary *summary;
	struct progress progress;

	/* What the next look goes on with. */
	bool has_begun;              /* the first event has been seen: */
	uint64_t since, until;
	struct merge_positions positions;
	uint64_t end;                /* the latest event of the look before */
	uint64_t nr_shown, last_time;
	bool is_unread, is_complete; /* nobody wants more */
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

/* The first event is the beginning of the trace. */
static void begin_at(struct reporter *reporter, uint64_t time)
{
	const uint64_t end = merge_end(&reporter->merge);

	reporter->since = resolve(reporter->report->since, time, end, 0);
	reporter->until = resolve(reporter->report->until, time, end, UINT64_MAX);
	reporter->has_begun = true;
}

/* ---- One look at the traces ---- */

static bool show(struct reporter *reporter, const struct merged *merged)
{
	const struct event *event = &merged->event;
	bool is_shown = event->format && event->time >= reporter->since;

	if (is_shown && reporter->selection)
		is_shown = selection_wants(reporter->selection, merged->trace_nr, merged->trace, event);
	if (!is_shown && (!merged->lost || event->time < reporter->since))
		return true;
	reporter->nr_shown += is_shown;
	reporter->is_complete = reporter->nr_shown == reporter->report->nr_wanted && is_shown;
	return reporter->summary ? summary_add(reporter->summary, merged, is_shown) : batch_add(reporter->batch, merged, is_shown);
}

static bool show_all(struct reporter *reporter)
{
	struct merge *merge = &reporter->merge;
	enum packet_result result;
	struct merged merged;
	uint64_t nr = 0;

	while (!interrupt_came() && (result = merge_next(merge, &merged)) == PACKET_EVENT) {
		if (!reporter->has_begun)
			begin_at(reporter, merged.event.time);
		merge->since = reporter->since;
		reporter->is_complete = merged.event.time > reporter->until;
		if (reporter->is_complete)
			return true;
		if (!show(reporter, &merged))
			return false;
		if (reporter->is_complete)
			return true;
		if (++nr % 1024 == 0)
			progress_show(&reporter->progress, merge->done, merge->total);
	}
	return interrupt_came() || result == PACKET_END;
}

static bool select_events(struct reporter *reporter, bool is_first)
{
	if (!reporter->report->events)
		return true;
	reporter->selection = selection_new(reporter->report->events);
	return reporter->selection && (!is_first || selection_check(reporter->selection, &reporter->traces));
}

static bool show_lines(struct reporter *reporter)
{
	reporter->batch = batch_new(&reporter->traces, &reporter->report->style, reporter->last_time);
	if (!reporter->batch)
		return false;
	progress_begin(&reporter->progress, isatty(STDOUT_FILENO));
	bool good = show_all(reporter);
	progress_end(&reporter->progress);
	/* What came in front of the failure is shown in any case. */
	good = batch_flush(reporter->batch) && good;
	reporter->last_time = batch_last_time(reporter->batch);
	reporter->is_unread = batch_is_unread(reporter->batch);
	return good;
}

static bool show_summary(struct reporter *reporter)
{
	reporter->summary = summary_new(reporter->traces.nr);
	if (!reporter->summary)
		return false;
	progress_begin(&reporter->progress, isatty(STDOUT_FILENO));
	bool good = show_all(reporter);
	progress_end(&reporter->progress);
	if (reporter->report->kind == REPORT_SUMMARY_JSON)
		return summary_print_json(reporter->summary) && good;
	return summary_print_text(reporter->summary, reporter->report->columns) && good;
}

static void close_traces(struct reporter *reporter)
{
	batch_free(reporter->batch);
	summary_free(reporter->summary);
	merge_free(&reporter->merge);
	selection_free(reporter->selection);
	traces_close(&reporter->traces);
	reporter->batch = NULL;
	reporter->summary = NULL;
	reporter->selection = NULL;
}

static bool open_traces(struct reporter *reporter, bool is_first)
{
	const struct report *report = reporter->report;

	return traces_open(&reporter->traces, report->paths, report->nr_paths) && select_events(reporter, is_first) &&
	       merge_begin(&reporter->merge, reporter->traces.traces, reporter->traces.nr, &reporter->positions) &&
	       (!is_first || !report->with_header || header_print(&reporter->traces, report->style.with_colours));
}

static bool look(struct reporter *reporter)
{
	const bool good = open_traces(reporter, true) &&
			  (reporter->report->kind == REPORT_LINES ? show_lines(reporter) : show_summary(reporter));

	close_traces(reporter);
	return good;
}

/* ---- Look after look ---- */

static const struct timespec pause_between = {.tv_nsec = FOLLOW_NS};

/* A directory may be renamed, or a packet be replaced, at the very moment when it is looked at: the next time it is not. */
static bool open_again(struct reporter *reporter)
{
	for (int i = 0; i < OPEN_TRIES && !interrupt_came(); i++) {
		fail_msg_silence(true);
		const bool good = open_traces(reporter, false);
		fail_msg_silence(false);
		if (good)
			return true;
		close_traces(reporter);
		nanosleep(&pause_between, NULL);
	}
	return open_traces(reporter, false);
}

/*
 * Of a program that records, a thread may be behind others with what it writes: what is later than all that the look before
 * has seen waits for the next one.
 */
static bool look_again(struct reporter *reporter, bool is_first)
{
	bool good = is_first ? open_traces(reporter, true) : open_again(reporter);

	if (good) {
		const uint64_t end = merge_end(&reporter->merge);
		reporter->merge.limit = is_first ? end : reporter->end;
		reporter->end = end;
		good = show_lines(reporter) && merge_save(&reporter->merge, &reporter->positions);
	}
	close_traces(reporter);
	return good;
}

static bool follow(struct reporter *reporter)
{
	bool good = true;

	for (bool is_first = true; good && !reporter->is_complete && !interrupt_came(); is_first = false) {
		good = look_again(reporter, is_first);
		if (good && fflush(stdout) != 0) {
			reporter->is_unread = errno == EPIPE;
			good = interrupt_came() || (!reporter->is_unread && fail_msg("the output can't be written: %s", strerror(errno)));
		}
		if (good && !interrupt_came())
			nanosleep(&pause_between, NULL);
	}
	merge_positions_free(&reporter->positions);
	return good;
}

/* The cursor of a terminal stands behind "^C", or in the middle of a line. One that takes nothing more is left as it is. */
static void end_line(void)
{
	struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};

	if (poll(&output, 1, WAIT_MS) != 1)
		__fpurge(stdout);
	else if (isatty(STDOUT_FILENO))
		fputs("\n", stdout);
}

bool report_write(const struct report *report)
{
	struct reporter reporter = {.report = report};

	interrupt_begin();
	const bool good = report->follows ? follow(&reporter) : look(&reporter);
	const bool interrupted = interrupt_came();
	if (interrupted) {
		end_line();
		fflush(stdout);
	}
	if (report->follows)
		interrupt_forget(); /* that is how it ends */
	else
		interrupt_end();
	return good || reporter.is_unread || interrupted;
}
