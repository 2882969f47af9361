/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/sink.c - the statistics sink: it counts, and a file says what.
 *
 * Here is what is done once a sink, and each time that the file is written;
 * stats.h says where the rest is, and how threads count.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/message.h"
#include "base/readers.h"
#include "base/text.h"
#include "sinks/stats/stats.h"

/* ---- Writing the file ---- */

/* What is in it is to be the same whatever the program's locale is: how JSON wants it, for one. */
static void format(struct tp_buffer *b, const struct tp_stats_report *report, bool json)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", NULL); /* which is there already, and so takes no lock */
	locale_t old = uselocale(plain);

	if (json)
		tp_stats_json(b, report);
	else
		tp_stats_text(b, report);
	uselocale(old);
	if (plain)
		freelocale(plain);
}

static int write_report(struct tp_stats_sink *sink, const struct tp_stats_report *report, bool taken)
{
	struct tp_buffer b = {.failed = !taken};

	if (taken)
		format(&b, report, sink->options.json);
	int error = tp_stats_file_replace(sink, &b, report->nr_events != 0);
	tp_buffer_free(&b);
	if (!error)
		sink->written = report->hits;
	return error;
}

/* In tp_guard_enter(), as it takes locks that readers take. 0 or an errno value. */
static int write_file(struct tp_stats_sink *sink, bool always, bool final)
{
	struct tp_stats_report report;
	int error = 0;

	tp_readers_register_thread(); /* as tp_lock() does, and why */
	tp_mutex_lock(&sink->writing);
	const bool taken = tp_stats_report_take(&report, sink, final);
	if (!taken || always || report.hits != sink->written || tp_stats_file_moves(sink))
		error = write_report(sink, &report, taken);
	tp_stats_report_free(&report);
	if (!sink->error)
		sink->error = error;
	tp_mutex_unlock(&sink->writing);
	return error;
}

/* The helper does it. */
static uint64_t write_changes(void *data)
{
	struct tp_stats_sink *sink = data;

	write_file(sink, false, false);
	return tp_helper_now() + sink->options.interval_ns;
}

static void begin_to_write(struct tp_stats_sink *sink)
{
	sink->work = (struct tp_work){.run = write_changes, .data = sink, .in_children = sink->options.live_children};
	int error = tp_helper_begin(&sink->work);
	sink->helped = error == 0;
	if (error)
		tp_complain("statistics '%s': no thread can be made that writes them: %s; they are written at the end",
			    sink->path, tp_strerror(error));
}

/* ---- Forks and closing ---- */

static void stats_after_fork_child(struct tp_sink *head)
{
	struct tp_stats_sink *sink = (struct tp_stats_sink *)head;

	sink->forked = true;
	sink->parent = getppid();
	sink->complained = false;
	sink->error = 0;
	sink->writing.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* its holder may not be in the child */
	tp_stats_threads_forget(sink);
	tp_stats_plans_forget(sink);
	sink->written = 0;
	sink->begin = tp_clock_now(&sink->clock);
	sink->refined = sink->clock; /* its writer may not be in the child */
}

/* Of a child whose statistics are written at its end. */
static void resume_in_child(void)
{
	struct tp_guard guard;

	if (!tp_guard_enter(&guard)) /* a crash handler forks, and may have interrupted whoever changes the list */
		return;
	tp_guard_leave(&guard);
	for (struct tp_stats_sink *sink = tp_stats_sinks; sink; sink = sink->next) {
		if (sink->helped && !sink->options.live_children) {
			sink->helped = false;
			tp_helper_end(&sink->work);
		}
	}
}

static struct tp_fork_hook fork_hook = {.rank = TP_RANK_LAST, .resume = resume_in_child};

static void sink_free(struct tp_stats_sink *sink)
{
	tp_stats_threads_free(sink);
	tp_stats_plans_free(sink);
	tp_stats_file_close(sink);
	tp_stats_options_free(&sink->options);
	free(sink);
}

static int stats_close(struct tp_sink *head)
{
	struct tp_stats_sink *sink = (struct tp_stats_sink *)head;
	struct tp_guard guard;

	if (sink->helped)
		tp_helper_end(&sink->work);
	tp_guard_enter(&guard);
	/* Of a child that has hit nothing there is no file. */
	if (sink->opened_path)
		write_file(sink, sink->path_pid == getpid(), true);
	tp_guard_leave(&guard);
	tp_stats_sinks_remove(sink);
	if (!sink->forked)
		tp_stats_tell_missing(sink);
	tp_sink_tell_lost(head);
	int error = -sink->error;
	sink_free(sink);
	return error;
}

static const struct tp_sink_ops stats_ops = {
	.name = "statistics",
	.reserve = tp_stats_reserve,
	.commit = tp_stats_commit,
	.describe_event = tp_stats_describe_event,
	.after_fork_child = stats_after_fork_child,
	.close = stats_close,
};

static bool is_stats(const struct tp_sink *head)
{
	return head && head->ops == &stats_ops;
}

int tp_stats_write(struct tp_sink *head)
{
	struct tp_guard guard;

	if (!is_stats(head) || !((struct tp_stats_sink *)head)->opened_path)
		return -EINVAL;
	if (!tp_guard_enter(&guard))
		return -EDEADLK;
	int error = write_file((struct tp_stats_sink *)head, true, false);
	tp_guard_leave(&guard);
	return -error;
}

int tp_stats_report(struct tp_sink *head, bool json, struct tp_buffer *to)
{
	struct tp_stats_sink *sink = (struct tp_stats_sink *)head;
	struct tp_stats_report report;
	struct tp_guard guard;

	if (!is_stats(head))
		return -EINVAL;
	if (!tp_guard_enter(&guard))
		return -EDEADLK;
	tp_readers_register_thread();
	tp_mutex_lock(&sink->writing);
	if (tp_stats_report_take(&report, sink, false))
		format(to, &report, json);
	else
		to->failed = true;
	tp_stats_report_free(&report);
	tp_mutex_unlock(&sink->writing);
	tp_guard_leave(&guard);
	return to->failed ? -ENOMEM : 0;
}

/* ---- Opening ---- */

/* So that what is wrong with the file shows now, and whoever waits for it finds one. */
static int write_first(struct tp_stats_sink *sink)
{
	struct tp_guard guard;

	sink->complained = true; /* the caller says it */
	tp_guard_enter(&guard);
	int error = write_file(sink, true, false);
	tp_guard_leave(&guard);
	sink->complained = false;
	return error;
}

static bool need_no_file(const struct tp_stats_options *options, const char *name)
{
	if (options->of_file)
		tp_complain("statistics '%s': interval= and children= say when a file is written, and here is none; there are "
			    "no statistics",
			    name);
	return !options->of_file;
}

static int begin(struct tp_stats_sink *sink, const char *name, bool has_file, const char *options)
{
	if (!tp_stats_options_parse(&sink->options, options, name))
		return EINVAL;
	if (has_file)
		return tp_stats_file_open(sink, name);
	if (!need_no_file(&sink->options, name))
		return EINVAL;
	sink->options.interval_ns = 0;
	sink->path = strdup(name);
	return sink->path ? 0 : ENOMEM;
}

static int sink_open(struct tp_stats_sink *sink, const char *name, bool has_file, const char *options)
{
	int error = begin(sink, name, has_file, options);

	if (error)
		return error;
	if (!tp_stats_plans_begin(sink))
		return ENOMEM;
	tp_clock_open(&sink->clock);
	sink->refined = sink->clock;
	sink->begin = tp_clock_now(&sink->clock);
	error = tp_stats_sinks_add(sink);
	if (error)
		return error;
	if (has_file)
		error = write_first(sink);
	if (!error)
		error = -tp_sink_open(&sink->head, &stats_ops);
	if (error)
		tp_stats_sinks_remove(sink);
	else if (sink->options.interval_ns)
		begin_to_write(sink);
	return error;
}

static struct tp_sink *sink_new(const char *name, bool has_file, const char *options)
{
	struct tp_stats_sink *sink = name ? tp_malloc(sizeof(*sink)) : NULL;

	if (!sink) {
		errno = name ? ENOMEM : EINVAL;
		return NULL;
	}
	*sink = (struct tp_stats_sink){.writing = TP_MUTEX_INIT(TP_RANK_SINK, "a statistics output's writing")};
	tp_fork_register(&fork_hook);
	sink->threads_end = &sink->threads;
	int error = sink_open(sink, name, has_file, options);
	if (!error)
		return &sink->head;
	sink_free(sink);
	errno = error;
	return NULL;
}

struct tp_sink *tp_stats_sink(const char *file, const char *options)
{
	return sink_new(file, true, options);
}

struct tp_sink *tp_stats_sink_without_file(const char *name, const char *options)
{
	return sink_new(name, false, options);
}
