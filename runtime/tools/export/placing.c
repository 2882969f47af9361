/* SPDX-License-Identifier: MIT */
#include "export/placing.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/counts.h"
#include "select/description.h"
#include "fail_msg.h"

typedef bool place_fn(void *data, const struct merged *merged, struct known *known, const struct placed *placed);

bool placing_init(struct placing *placing, struct spans *spans, const struct traces *traces)
{
	*placing = (struct placing){.spans = spans, .nr_traces = traces->nr, .next_iid = 1};
	placing->known = calloc(traces->nr * NR_EVENT_IDS + 1, sizeof(struct known *));
	return placing->known ? spans_check(spans, traces) : fail_no_memory();
}

static void known_free(struct known *known)
{
	if (known)
		description_free(known->described);
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
	if (!good) {
		known_free(known);
		return NULL;
	}
	known->scheduling = scheduling_of(merged->trace, format);
	track_event_init(&known->track, known->described, placing->next_iid);
	placing->next_iid += track_event_iids(&known->track);
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

static bool place_in_span(struct placing *placing, size_t i, enum track_event_type type, uint32_t lane, const struct merged *merged,
			  struct known *known, place_fn *fn, void *data)
{
	const struct span *span = &placing->spans->all[i];
	const struct track_wanted track = {
		.parent = span->key[KEY_OF_BEGIN].nr ? PARENT_PROCESS : PARENT_THREAD, .pid = merged->event.pid,
		.key = i, .key_more = (uint64_t)lane + 1, .name = span->name,
	};

	return fn(data, merged, known, &(struct placed){.type = type, .track = &track, .name = {span->name, strlen(span->name)}});
}

/* *is_placed: it is one of a pair. */
static bool place_in_spans(struct placing *placing, const struct merged *merged, struct known *known, bool *is_placed, place_fn *fn, void *data)
{
	const struct event *event = &merged->event;
	uint32_t lane;

	for (size_t i = 0; i < placing->spans->nr; i++) {
		struct span *span = &placing->spans->all[i];
		const bool ends = span_ends(span, &known->roles[i], merged->trace_nr, merged->trace, event, &lane);
		if (ends && !place_in_span(placing, i, TRACK_END, lane, merged, known, fn, data))
			return false;
		const bool begins = span_begins(span, &known->roles[i], merged->trace_nr, merged->trace, event, &lane);
		if (begins && !place_in_span(placing, i, TRACK_BEGIN, lane, merged, known, fn, data))
			return false;
		*is_placed = *is_placed || ends || begins;
	}
	return true;
}

/* ---- Events that say what they are ---- */

static uint64_t hash_of(const char *text, uint64_t before)
{
	return key_of_text(before, text, strlen(text));
}

/* "NAME", or "NAME queue 3" of a scope that is neither a thread nor a process. */
static void put_track_name(struct tp_buffer *name, const struct known *known, const struct event *event, bool has_scope, uint64_t scope)
{
	const struct track_roles *roles = &known->track.roles;
	struct tp_value_bytes text = {.at = NULL};

	if (roles->has_track_name && record_field_text(&roles->track_name, event, &text))
		tp_buffer_put_plain(name, text.at, text.len);
	else
		tp_buffer_printf(name, "%s", known->described->name);
	if (has_scope)
		tp_buffer_printf(name, " %s %lld", roles->scope_name, (long long)scope);
}

/* A track for each event, each name of a track, and each value of the scope. */
static bool place_by_roles(const struct merged *merged, struct known *known, place_fn *fn, void *data)
{
	const struct track_roles *roles = &known->track.roles;
	const bool is_process = roles->scope_name && strcmp(roles->scope_name, "tgid") == 0;
	struct placed placed = {.type = TRACK_COUNTER};
	struct tp_buffer name = {.text = NULL};
	uint64_t scope = 0, type = 0;

	if (roles->scope_name)
		record_field_number(&roles->scope, &merged->event, &scope);
	put_track_name(&name, known, &merged->event, roles->scope_name && !is_process, scope);
	if (!name.text)
		return fail_no_memory();
	struct track_wanted track = {
		.parent = !roles->scope_name ? PARENT_THREAD : is_process ? PARENT_PROCESS : PARENT_NONE,
		.pid = is_process ? (int32_t)scope : merged->event.pid, .key_more = scope, .name = name.text, .is_counter = roles->is_counter,
	};
	track.key = hash_of(track.name, hash_of(known->described->name, hash_of(known->described->system, 0)));
	placed.track = &track;
	if (roles->is_counter) {
		record_field_number(&roles->counter, &merged->event, &placed.counter);
	} else {
		record_field_number(&roles->type, &merged->event, &type);
		placed.type = type == 'B' ? TRACK_BEGIN : type == 'E' ? TRACK_END : TRACK_INSTANT;
		if (roles->has_slice_name)
			record_field_text(&roles->slice_name, &merged->event, &placed.name);
	}
	const bool good = fn(data, merged, known, &placed);
	tp_buffer_free(&name);
	return good;
}

bool placing_each(struct placing *placing, const struct merged *merged, place_fn *fn, void *data)
{
	struct known *known = known_of(placing, merged);
	bool is_placed = false;

	if (!known || !place_in_spans(placing, merged, known, &is_placed, fn, data))
		return false;
	if (is_placed)
		return true;
	if (known->track.roles.is_track || known->track.roles.is_counter)
		return place_by_roles(merged, known, fn, data);
	return fn(data, merged, known, &(struct placed){.type = TRACK_INSTANT});
}
