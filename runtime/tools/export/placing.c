/* SPDX-License-Identifier: MIT */
#include "export/placing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "read/event_origin.h"
#include "select/description.h"
#include "fail_msg.h"

bool placing_init(struct placing *placing, struct spans *spans, const struct traces *traces)
{
	*placing = (struct placing){.spans = spans, .nr_traces = traces->nr, .next_iid = TP_FIRST_EVENT_IID};
	placing->known = calloc(traces->nr * NR_EVENT_IDS + 1, sizeof(struct known *));
	return placing->known ? spans_check(spans, traces) : fail_no_memory();
}

static void known_free(struct known *known)
{
	if (known) {
		tp_track_plan_free(known->plan);
		description_free(known->described);
	}
	free(known);
}

void placing_free(struct placing *placing)
{
	for (size_t i = 0; placing->known && i < placing->nr_traces * NR_EVENT_IDS; i++)
		known_free(placing->known[i]);
	free(placing->known);
}

/* ---- What an event is ---- */

static struct known *learn(struct placing *placing, const struct merged *merged)
{
	const struct event_format *format = merged->event.format;
	const size_t nr = placing->spans->nr;
	struct known *known = calloc(1, sizeof(*known) + nr * sizeof(known->roles[0]));
	bool good = known || fail_no_memory();

	if (good) {
		known->described = description_new(format);
		good = known->described != NULL;
	}
	for (size_t i = 0; i < nr && good; i++)
		good = span_role_of(&known->roles[i], &placing->spans->all[i], merged->trace_nr, merged->trace, format, known->described);
	if (good) {
		struct event_origin origin = event_origin_of(&merged->trace->metadata, format->id);
		known->described->loglevel = origin.level == LEVEL_UNKNOWN ? TP_LOGLEVEL_DEBUG_LINE : (enum tp_loglevel)origin.level;
		known->plan = tp_track_plan_new(known->described, origin.file, origin.line, &placing->next_iid);
		free(origin.file);
		good = known->plan || fail_no_memory();
	}
	if (!good) {
		known_free(known);
		return NULL;
	}
	known->scheduling = scheduling_of(merged->trace, format);
	return known;
}

/* NULL, and a message. */
static struct known *known_of(struct placing *placing, const struct merged *merged)
{
	struct known **known = &placing->known[merged->trace_nr * NR_EVENT_IDS + merged->event.format->id];

	if (!*known)
		*known = learn(placing, merged);
	return *known;
}

/* ---- Pairs ---- */

static bool place_in_span(struct placing *placing, size_t i, enum tp_track_event_type type, uint32_t lane, const struct merged *merged,
			  struct known *known, place_fn *fn, void *data)
{
	const struct span *span = &placing->spans->all[i];
	struct tp_track track = {
		.parent = span->key[KEY_OF_BEGIN].nr ? TP_PARENT_PROCESS : TP_PARENT_THREAD, .pid = merged->event.pid,
		.key = i, .key_more = (uint64_t)lane + 1,
	};

	snprintf(track.name, sizeof(track.name), "%s", span->name);
	return fn(data, merged, known, &(struct tp_placed){.type = type, .name = {span->name, strlen(span->name)}}, &track);
}

/* *is_placed: it is one of a pair. */
static bool place_in_spans(struct placing *placing, const struct merged *merged, struct known *known, bool *is_placed, place_fn *fn, void *data)
{
	const struct event *event = &merged->event;
	uint32_t lane;

	for (size_t i = 0; i < placing->spans->nr; i++) {
		struct span *span = &placing->spans->all[i];
		const bool ends = span_ends(span, &known->roles[i], merged->trace_nr, merged->trace, event, &lane);
		if (ends && !place_in_span(placing, i, TP_TRACK_END, lane, merged, known, fn, data))
			return false;
		const bool begins = span_begins(span, &known->roles[i], merged->trace_nr, merged->trace, event, &lane);
		if (begins && !place_in_span(placing, i, TP_TRACK_BEGIN, lane, merged, known, fn, data))
			return false;
		*is_placed = *is_placed || ends || begins;
	}
	return true;
}

/* ---- All of them ---- */

bool placing_each(struct placing *placing, const struct merged *merged, place_fn *fn, void *data)
{
	struct known *known = known_of(placing, merged);
	bool is_placed = false;
	struct tp_placed placed;
	struct tp_track track;

	if (!known || !place_in_spans(placing, merged, known, &is_placed, fn, data))
		return false;
	if (is_placed)
		return true;
	const bool has_track = tp_track_of_record(known->plan, merged->event.record, merged->event.size, &placed, &track);
	if (has_track && !track.pid)
		track.pid = merged->event.pid;
	return fn(data, merged, known, &placed, has_track ? &track : NULL);
}
