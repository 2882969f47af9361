/* SPDX-License-Identifier: MIT */
/*
 * sinks/hist/sink.c - a histogram is a sink that keeps no records: it counts them by their keys.
 *
 * Which events it may have is known when they are described: those that have the fields. Which it has is known when the
 * first is enabled. That one decides what kind each key is, and then the table is made.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/hit.h"
#include "base/message.h"
#include "base/scratch.h"
#include "base/stack.h"
#include "base/text.h"
#include "core/core.h"
#include "events/events.h"
#include "events/pattern.h"
#include "record/record.h"
#include "sinks/hist/reference.h"

/* ---- Hits ---- */

static struct tp_clock trace_clock; /* of common_timestamp; all histograms have the same */

static uint64_t now_of(const struct tp_hist_definition *definition)
{
	static const clockid_t ids[TP_HIST_NR_CLOCKS] = {
		[TP_HIST_CLOCK_MONO] = CLOCK_MONOTONIC, [TP_HIST_CLOCK_MONO_RAW] = CLOCK_MONOTONIC_RAW,
		[TP_HIST_CLOCK_BOOT] = CLOCK_BOOTTIME, [TP_HIST_CLOCK_TAI] = CLOCK_TAI,
	};
	struct timespec time;
	uint64_t ns;

	if (definition->clock <= TP_HIST_CLOCK_LOCAL) {
		ns = tp_clock_to_ns(&trace_clock, tp_clock_now(&trace_clock));
	} else {
		clock_gettime(ids[definition->clock], &time);
		ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	}
	return definition->stamps_in_usecs ? ns / 1000 : ns;
}

static struct tp_hist_program *program_of(const struct tp_hist *hist, const struct tp_event *event)
{
	return __atomic_load_n(&hist->programs[event->id], __ATOMIC_ACQUIRE);
}

static void hist_commit(struct tp_record *rec)
{
	struct tp_hist *hist = tp_hist_of(rec->sink);
	const struct tp_hist_program *program = program_of(hist, rec->event);

	if (__builtin_expect(!program || !__atomic_load_n(&program->is_attached, __ATOMIC_ACQUIRE), 0))
		tp_sink_count_lost(rec->sink, TP_LOST_OTHER); /* its writer was registered by hand */
	else if (__builtin_expect(!__atomic_load_n(&hist->paused, __ATOMIC_RELAXED), 1))
		tp_hist_hit(hist, __atomic_load_n(&hist->map->table, __ATOMIC_ACQUIRE), program, rec,
			    program->with_stamp ? now_of(hist->definition) : 0);
	tp_scratch_pop_short(rec->entry);
}

/* ---- Events ---- */

static size_t programs_size(void)
{
	return TP_NR_IDS * sizeof(struct tp_hist_program *);
}

static int hist_describe_event(struct tp_sink *head, const struct tp_event *event)
{
	struct tp_hist *hist = tp_hist_of(head);
	struct tp_filter_error error;
	struct tp_hist_program *program = tp_hist_program_new(hist->definition, &hist->links, event, &error);

	if (!program) {
		const int failed = error.error;
		tp_filter_error_free(&error);
		return failed == -ENOMEM ? failed : TP_NOT_FOR_SINK;
	}
	program->next = hist->all_programs;
	hist->all_programs = program;
	__atomic_store_n(&hist->programs[event->id], program, __ATOMIC_RELEASE);
	return 0;
}

static void attach(struct tp_hist *hist, struct tp_hist_program *program)
{
	if (program->is_attached)
		return;
	program->next_attached = hist->attached;
	__atomic_store_n(&hist->attached, program, __ATOMIC_RELEASE);
	__atomic_store_n(&program->is_attached, true, __ATOMIC_RELEASE); /* whoever sees it sees the table */
}

/* The event is about to be enabled. One that does not fit is never taken. */
static const int *hist_enable_flag(struct tp_sink *head, const struct tp_event *event)
{
	static const int never;
	struct tp_hist *hist = tp_hist_of(head);
	struct tp_hist_program *program = program_of(hist, event);

	tp_lock(&tp_hist_lock);
	const int error = tp_hist_map_settle(hist->map, hist->definition, program, event);
	if (!error) {
		attach(hist, program);
		tp_hist_bind(hist);
	}
	tp_unlock(&tp_hist_lock);
	if (error == -EINVAL)
		tp_complain("event '%s' is not counted in hist:%s: its keys are of other types than those of the events that it has",
			    program->name, hist->definition->text);
	else if (error)
		tp_complain("event '%s' is not counted in hist:%s: %s", program->name, hist->definition->text, tp_strerror(-error));
	return error ? &never : NULL;
}

/* ---- Forks and closing ---- */

/* A child counts from 0. */
static void hist_after_fork_child(struct tp_sink *head)
{
	struct tp_hist *hist = tp_hist_of(head);

	if (hist->map->table)
		tp_hist_table_forget(hist->map->table);
	hist->unset = 0;
}

static void hist_free(struct tp_hist *hist)
{
	while (hist->all_programs) {
		struct tp_hist_program *program = hist->all_programs;
		hist->all_programs = program->next;
		tp_hist_program_free(program);
	}
	if (hist->programs)
		munmap(hist->programs, programs_size());
	tp_hist_links_give(hist);
	if (hist->map)
		tp_hist_map_give(hist->map);
	tp_hist_definition_free(hist->definition);
	free(hist->filter);
	free(hist);
}

static int hist_close(struct tp_sink *head)
{
	tp_hist_list_remove(tp_hist_of(head));
	hist_free(tp_hist_of(head));
	return 0;
}

static const struct tp_sink_ops hist_ops = {
	.name = "histogram",
	.reserve = tp_reserve_scratch,
	.commit = hist_commit,
	.describe_event = hist_describe_event,
	.after_fork_child = hist_after_fork_child,
	.enable_flag = hist_enable_flag,
	.close = hist_close,
};

bool tp_is_hist(const struct tp_sink *sink)
{
	return sink && sink->ops == &hist_ops;
}

/* ---- Opening ---- */

static void start(void)
{
	tp_clock_open(&trace_clock);
}

static bool prepare(struct tp_hist *hist, const char *filter, struct tp_filter_error *error)
{
	void *programs = mmap(NULL, programs_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	hist->programs = programs == MAP_FAILED ? NULL : programs;
	hist->filter = filter ? strdup(filter) : NULL;
	if (!hist->programs || (filter && !hist->filter))
		return tp_filter_fail_memory(error);
	hist->map = tp_hist_map_take(hist->definition, error);
	return hist->map != NULL;
}

static bool open_sink(struct tp_hist *hist, struct tp_filter_error *error)
{
	if (tp_sink_open(&hist->head, &hist_ops) != 0)
		return tp_filter_fail_memory(error);
	hist->head.key = TP_SCRATCH_KEY;
	return true;
}

enum tp_hist_selector tp_hist_selector_of(const struct tp_hist_definition *definition)
{
	return definition->pause ? TP_HIST_PAUSE : definition->cont ? TP_HIST_CONTINUE : definition->clear ? TP_HIST_CLEAR : TP_HIST_MAKE;
}

/* For links.c: a histogram that keeps fields of another event. */
static struct tp_sink *hide(const char *text, const char *filter, const char *event, struct tp_filter_error *error)
{
	struct tp_hist_definition *definition = tp_hist_definition_new(text, error);
	struct tp_sink *sink = definition ? tp_hist_sink(definition, filter, error) : NULL;
	struct tp_enable_report report = {.in_a_line = true};

	if (!sink)
		return NULL;
	tp_hist_of(sink)->hidden = true;
	tp_sink_hide(sink);
	const int nr = tp_enable_filtered(sink, event, filter, &report);
	tp_buffer_free(&report.text);
	if (nr > 0)
		return sink;
	tp_sink_close(sink);
	tp_filter_fail(error, 0, "It doesn't fit the event");
	return NULL;
}

struct tp_sink *tp_hist_sink(struct tp_hist_definition *definition, const char *filter, struct tp_filter_error *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tp_hist *hist = tp_malloc(sizeof(*hist));

	*error = (struct tp_filter_error){.error = 0};
	if (!hist) {
		tp_filter_fail_memory(error);
		tp_hist_definition_free(definition);
		return NULL;
	}
	tp_stack_start();
	pthread_once(&once, start);
	*hist = (struct tp_hist){.definition = definition, .paused = definition->pause};
	const bool may = !definition->cont && !definition->clear;
	if (!may)
		tp_filter_fail(error, 0, "Can't clear or continue a nonexistent hist trigger");
	if (may && prepare(hist, filter, error) && tp_hist_links_find(hist, hide, error) && open_sink(hist, error)) {
		tp_hist_list_add(hist);
		return &hist->head;
	}
	hist_free(hist);
	return NULL;
}

/* ---- What is done with one ---- */

bool tp_hist_wants_snapshot(const struct tp_hist_definition *definition)
{
	for (uint32_t i = 0; i < definition->nr_actions; i++) {
		if (definition->actions[i].kind == TP_HIST_SNAPSHOT)
			return true;
	}
	return false;
}

void tp_hist_on_snapshot(struct tp_sink *sink, void (*take)(void *data), void *data)
{
	tp_hist_of(sink)->snapshot = take;
	tp_hist_of(sink)->snapshot_data = data;
}

void tp_hist_show_filter(struct tp_sink *sink, const char *filter)
{
	struct tp_hist *hist = tp_hist_of(sink);
	char *before, *shown = filter ? strdup(filter) : NULL;

	tp_lock(&tp_hist_lock);
	before = hist->filter;
	hist->filter = shown;
	tp_unlock(&tp_hist_lock);
	free(before);
}

int tp_hist_leave(struct tp_sink *sink, struct tp_buffer *why)
{
	struct tp_hist *hist = tp_hist_of(sink);

	tp_lock(&tp_hist_lock);
	const struct tp_hist *reader = tp_hist_reader_of(hist);
	hist->leaving = !reader;
	if (reader)
		tp_buffer_printf(why, "its variables are read by hist:%s on %s; take that off first", reader->definition->text,
				 reader->attached ? reader->attached->name : "no event");
	tp_unlock(&tp_hist_lock);
	return reader ? -EBUSY : 0;
}

bool tp_hist_is(const struct tp_sink *sink, const struct tp_hist_definition *definition)
{
	return tp_hist_definition_same(((const struct tp_hist *)sink)->definition, definition);
}

int tp_hist_clear(struct tp_sink *sink)
{
	struct tp_hist_map *map = tp_hist_of(sink)->map;
	struct tp_hist_table *old = NULL, *made = NULL;

	if (tp_reading())
		return -EDEADLK;
	tp_lock(&tp_hist_lock);
	if (map->table)
		made = tp_hist_table_new(map->bits, &map->shape);
	const bool failed = map->table && !made;
	if (made) {
		old = map->table;
		__atomic_store_n(&map->table, made, __ATOMIC_RELEASE);
		__atomic_store_n(&tp_hist_of(sink)->unset, 0, __ATOMIC_RELAXED);
	}
	tp_unlock(&tp_hist_lock);
	if (old) {
		tracepoint_synchronize_unregister();
		tp_hist_table_free(old);
	}
	return failed ? -ENOMEM : 0;
}

struct fit {
	const struct tp_hist *hist;
	const struct tp_pattern *pattern;
	struct tp_filter_error *error; /* of the first that does not fit */
	int nr, misfits;
};

static void fit(const struct tp_event *event, void *data)
{
	struct fit *f = data;
	struct tp_filter_error error;
	struct tp_buffer name = {.text = NULL};

	tp_buffer_printf(&name, "%s:%s", event->system, event->name);
	const bool matches = !name.failed && tp_pattern_matches(f->pattern, name.text);
	tp_buffer_free(&name);
	if (!matches)
		return;
	struct tp_hist_program *program = tp_hist_program_new(f->hist->definition, &f->hist->links, event, &error);
	if (program)
		f->nr++;
	else if (!f->misfits++)
		*f->error = error;
	else
		tp_filter_error_free(&error);
	tp_hist_program_free(program);
}

int tp_hist_fits(const struct tp_sink *sink, const char *patterns, struct tp_filter_error *error)
{
	int result;
	struct tp_pattern *pattern = tp_pattern_new(patterns, &result);
	struct fit f = {.hist = (const struct tp_hist *)sink, .pattern = pattern, .error = error};

	*error = (struct tp_filter_error){.error = 0};
	if (!pattern)
		return result;
	tp_for_each_event(fit, &f);
	tp_pattern_free(pattern);
	if (f.nr)
		tp_filter_error_free(error);
	return f.nr || !f.misfits ? f.nr : error->error;
}
