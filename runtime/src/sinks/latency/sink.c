/* SPDX-License-Identifier: MIT */
/*
 * sinks/latency/sink.c - the output, and the way of a record: an end is matched with its begin, and the time between them
 * is added to the group's numbers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/message.h"
#include "base/scratch.h"
#include "base/thread.h"
#include "events/events.h"
#include "record/record.h"
#include "sinks/latency/latency.h"

#define GROUP_BITS 9

static struct tp_latency *latency_of(struct tp_sink *head)
{
	return (struct tp_latency *)head;
}

/* ---- Groups ---- */

static uint64_t group_of(struct tp_latency *latency, const struct tp_latency_event *event, const struct tp_record *rec)
{
	struct tp_count_key key = {.nr = 0};

	tp_latency_key(&key, event->by, latency->options.nr_by, rec);
	const uint32_t number = tp_count_table_insert(&latency->groups, &key);
	return number == TP_COUNT_NO_ENTRY ? 0 : number;
}

static void raise_to(uint64_t *at, uint64_t value)
{
	uint64_t now = __atomic_load_n(at, __ATOMIC_RELAXED);

	while (now < value && !__atomic_compare_exchange_n(at, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void count(struct tp_latency *latency, uint32_t group, uint64_t ns)
{
	struct tp_counters *counters = latency->groups.counters;
	struct tp_latency_extremes *extremes =
		(struct tp_latency_extremes *)((char *)tp_count_entry_at(&latency->groups, group) + latency->groups.extra);
	const size_t at = (size_t)group * TP_LATENCY_COUNTERS;
	uint64_t *row = tp_counters_row(counters);

	tp_counters_add(counters, row, at + TP_LATENCY_COUNT, 1);
	tp_counters_add(counters, row, at + TP_LATENCY_SUM, ns);
	tp_counters_add(counters, row, at + TP_LATENCY_BUCKETS + tp_bucket_of(ns), 1);
	raise_to(&extremes->most, ns);
	raise_to(&extremes->inverted_least, ~ns);
}

/* ---- Pairs ---- */

static struct tp_pair_key key_of(const struct tp_latency *latency, const struct tp_latency_event *event, enum tp_latency_role role,
				 const struct tp_record *rec)
{
	struct tp_count_key key;

	key.nr = 0;
	if (latency->options.nr_fields)
		tp_latency_key(&key, event->key[role], latency->options.nr_fields, rec);
	else
		key.words[key.nr++] = (uint64_t)tp_thread_id();
	return tp_pair_key_of(&key);
}

static void begin(struct tp_latency *latency, const struct tp_latency_event *event, const struct tp_record *rec)
{
	const struct tp_pair_key key = key_of(latency, event, TP_LATENCY_BEGIN, rec);
	struct tp_pair pair = {.size = rec->size};

	if (latency->by_of_begin && event->has_by)
		pair.data = group_of(latency, event, rec);
	pair.time = tp_clock_now(&latency->clock);
	tp_pairs_begin(&latency->pairs, key, &pair, rec->entry);
}

static void keep(struct tp_latency *latency, struct tp_latency_slow *slow, const struct tp_pair *begun, uint64_t now, uint64_t ns,
		 const struct tp_record *rec)
{
	slow->ns = ns;
	slow->time[TP_LATENCY_BEGIN] = begun->time;
	slow->time[TP_LATENCY_END] = now;
	slow->size[TP_LATENCY_BEGIN] = begun->size;
	slow->size[TP_LATENCY_END] = rec->size <= TP_PAIRS_RECORD ? rec->size : 0;
	memcpy(slow->record[TP_LATENCY_END], rec->entry, slow->size[TP_LATENCY_END]);
	tp_latency_slowest_add(&latency->slowest, slow);
}

static void end(struct tp_latency *latency, const struct tp_latency_event *event, const struct tp_record *rec)
{
	const uint64_t now = tp_clock_now(&latency->clock);
	struct tp_latency_slow slow;
	struct tp_pair begun;

	if (!tp_pairs_end(&latency->pairs, key_of(latency, event, TP_LATENCY_END, rec), &begun, slow.record[TP_LATENCY_BEGIN]))
		return;
	/* The counter may be read a bit early. */
	const uint64_t ticks = now > begun.time ? now - begun.time : 0;
	const uint64_t ns = tp_latency_ns(latency, ticks);
	const bool of_end = !latency->by_of_begin && event->has_by;
	count(latency, (uint32_t)(of_end ? group_of(latency, event, rec) : begun.data), ns);
	if (ns > __atomic_load_n(&latency->slowest.least, __ATOMIC_RELAXED) && latency->slowest.nr)
		keep(latency, &slow, &begun, now, ns, rec);
}

static void latency_commit(struct tp_record *rec)
{
	struct tp_latency *latency = latency_of(rec->sink);
	const struct tp_latency_event *event = __atomic_load_n(&latency->events[rec->event->id], __ATOMIC_ACQUIRE);

	if (!event) { /* its writer was registered by hand */
		tp_sink_count_lost(rec->sink, TP_LOST_OTHER);
	} else {
		/* Of an event that is both, a record ends what the one before has begun. */
		if (event->has_role[TP_LATENCY_END])
			end(latency, event, rec);
		if (event->has_role[TP_LATENCY_BEGIN])
			begin(latency, event, rec);
	}
	tp_scratch_pop_short(rec->entry);
}

/* ---- Opening, forks and closing ---- */

static size_t events_size(void)
{
	return TP_NR_IDS * sizeof(struct tp_latency_event *);
}

static int latency_describe_event(struct tp_sink *head, const struct tp_event *event)
{
	return tp_latency_describe(latency_of(head), event);
}

/* The group of all that have no other. */
static void make_first_group(struct tp_latency *latency)
{
	const struct tp_count_key none = {.nr = 0};

	tp_count_table_insert(&latency->groups, &none);
}

/* A child begins at 0. What its parent has begun is not its own. */
static void latency_after_fork_child(struct tp_sink *head)
{
	struct tp_latency *latency = latency_of(head);

	tp_pairs_forget(&latency->pairs);
	tp_count_table_forget(&latency->groups);
	make_first_group(latency);
	if (latency->slowest.nr)
		memset(latency->slowest.slots, 0, latency->slowest.nr * sizeof(*latency->slowest.slots));
	latency->slowest.least = 0;
}

static void latency_free(struct tp_latency *latency)
{
	tp_latency_events_free(latency);
	if (latency->events)
		munmap(latency->events, events_size());
	for (enum tp_latency_role role = 0; role < TP_LATENCY_NR_ROLES; role++)
		tp_buffer_free(&latency->misfit[role]);
	tp_pairs_close(&latency->pairs);
	if (latency->groups.counters)
		tp_count_table_close(&latency->groups);
	free(latency->slowest.slots);
	tp_end_file_free(&latency->file);
	tp_latency_options_free(&latency->options);
	free(latency);
}

static bool has_hits(const struct tp_latency *latency)
{
	uint64_t earliest;

	return tp_count_table_used(&latency->groups) > 1 || tp_count_sum(&latency->groups, 0, TP_LATENCY_COUNT) ||
	       tp_pairs_waiting(&latency->pairs, &earliest) || latency->pairs.forgotten || latency->pairs.unmatched;
}

static int write_file(struct tp_latency *latency)
{
	struct tp_buffer text = {.text = NULL};
	int error = 0;

	if (!latency->file.path || (tp_end_file_in_child(&latency->file) && !has_hits(latency)))
		return 0;
	error = -tp_latency_report(&latency->head, &text);
	if (!error)
		error = tp_end_file_write(&latency->file, &text);
	if (error)
		tp_complain("latency '%s': can't be written: %s", latency->file.path, tp_strerror(error));
	tp_buffer_free(&text);
	return -error;
}

static int latency_close(struct tp_sink *head)
{
	tp_sink_tell_lost(head);
	const int error = write_file(latency_of(head));
	latency_free(latency_of(head));
	return error;
}

static const struct tp_sink_ops latency_ops = {
	.name = "latency",
	.reserve = tp_reserve_scratch,
	.commit = latency_commit,
	.describe_event = latency_describe_event,
	.after_fork_child = latency_after_fork_child,
	.close = latency_close,
};

bool tp_is_latency(const struct tp_sink *sink)
{
	return sink && sink->ops == &latency_ops;
}

static bool make_tables(struct tp_latency *latency)
{
	const struct tp_latency_options *options = &latency->options;
	void *events = mmap(NULL, events_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	latency->events = events == MAP_FAILED ? NULL : events;
	latency->slowest.nr = (size_t)options->slowest;
	if (options->slowest)
		latency->slowest.slots = calloc(latency->slowest.nr, sizeof(*latency->slowest.slots));
	return latency->events && (latency->slowest.slots || !latency->slowest.nr) && tp_pairs_open(&latency->pairs, latency->slowest.nr != 0) &&
	       tp_count_table_open(&latency->groups, options->nr_by ? GROUP_BITS : 0,
				   options->nr_by * (1 + (TP_COUNT_TEXT_BYTES + 7) / 8), TP_LATENCY_COUNTERS,
				   sizeof(struct tp_latency_extremes), false);
}

/* Events that come later may have what those that are there lack, unless there are such that lack it. False after a message. */
static bool fits(struct tp_latency *latency, const char *name)
{
	for (enum tp_latency_role role = 0; role < TP_LATENCY_NR_ROLES; role++) {
		if (latency->misfit[role].len && !tp_latency_has(latency, role, false)) {
			tp_complain("latency '%s': %s; nothing is measured", name, latency->misfit[role].text);
			return false;
		}
	}
	if (!latency->options.nr_by || !tp_latency_has(latency, TP_LATENCY_BEGIN, false) || !tp_latency_has(latency, TP_LATENCY_END, false))
		return true;
	if (tp_latency_has(latency, TP_LATENCY_END, true) || tp_latency_has(latency, TP_LATENCY_BEGIN, true))
		return true;
	tp_complain("latency '%s': neither the begin nor the end has all fields of by=; nothing is measured", name);
	return false;
}

/* 0 or an errno. */
static int open_latency(struct tp_latency *latency, const char *name, const char *file, const char *options)
{
	if (!tp_latency_options_parse(&latency->options, options, name))
		return EINVAL;
	if (!make_tables(latency) || !tp_end_file_begin(&latency->file, file))
		return ENOMEM;
	make_first_group(latency);
	tp_clock_open(&latency->clock);
	latency->ns_of_tick = 1e9 / (double)latency->clock.frequency;
	const int error = tp_sink_open(&latency->head, &latency_ops);
	if (error)
		return -error;
	latency->head.key = TP_SCRATCH_KEY;
	if (fits(latency, name))
		return 0;
	free(latency->file.path);
	latency->file.path = NULL;
	tp_sink_close(&latency->head);
	return -1;
}

struct tp_sink *tp_latency_sink(const char *name, const char *file, const char *options)
{
	struct tp_latency *latency = tp_malloc(sizeof(*latency));

	errno = ENOMEM;
	if (!latency)
		return NULL;
	*latency = (struct tp_latency){.head = {.ops = &latency_ops}};
	const int error = open_latency(latency, name, file, options);
	if (!error)
		return &latency->head;
	if (error > 0)
		latency_free(latency);
	errno = error > 0 ? error : EINVAL;
	return NULL;
}
