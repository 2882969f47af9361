/* SPDX-License-Identifier: MIT */
#include "export/spans.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "select/description.h"
#include "fail_msg.h"

/* ---- What is wanted ---- */

/* "BEGIN/END by FIELD": begin and end are pieces of the text, fields too, or NULL. */
static bool take_apart(char *text, char **begin, char **end, char **fields)
{
	static const char by[] = " by ";
	char *slash = strchr(text, '/');

	if (!slash)
		return false;
	*slash = '\0';
	*begin = text;
	*end = slash + 1;
	*fields = strstr(*end, by);
	if (*fields) {
		**fields = '\0';
		*fields += strlen(by);
		*fields += strspn(*fields, " ");
	}
	return **begin && **end && (!*fields || **fields);
}

#define PREFIX_MIN 3

/* Of an event in a rule: without its system, and without a filter. */
static struct tp_value_bytes name_in(const char *rule)
{
	const char *colon = memchr(rule, ':', strcspn(rule, " "));
	const char *name = colon ? colon + 1 : rule;

	return (struct tp_value_bytes){name, strcspn(name, " ")};
}

static char *name_of(const char *begin, const char *end)
{
	const struct tp_value_bytes one = name_in(begin), other = name_in(end);
	size_t len = 0;

	while (len < one.len && len < other.len && one.at[len] == other.at[len])
		len++;
	while (len && !isalnum((unsigned char)one.at[len - 1]))
		len--;
	return strndup(one.at, len < PREFIX_MIN ? one.len : len);
}

static bool init(struct span *span, char *begin, char *end, const char *fields)
{
	span->name = name_of(begin, end);
	if (!span->name)
		return fail_no_memory();
	span->events[KEY_OF_BEGIN] = selection_new(begin);
	span->events[KEY_OF_END] = span->events[KEY_OF_BEGIN] ? selection_new(end) : NULL;
	return span->events[KEY_OF_END] && key_names_take(&span->key[KEY_OF_BEGIN], fields, KEY_OF_BEGIN) &&
	       key_names_take(&span->key[KEY_OF_END], fields, KEY_OF_END) && (tp_pairs_open(&span->pairs, false) || fail_no_memory());
}

static bool spans_add(struct spans *spans, const char *text)
{
	struct span *more = reallocarray(spans->all, spans->nr + 1, sizeof(*more));
	char *begin, *end, *fields;

	if (!more)
		return fail_no_memory();
	spans->all = more;
	more[spans->nr] = (struct span){.name = NULL};
	char *copy = strdup(text);
	if (!copy)
		return fail_no_memory();
	const bool good = take_apart(copy, &begin, &end, &fields)
			  ? init(&spans->all[spans->nr++], begin, end, fields)
			  : fail_msg("'%s' is no span, such as 'block_start/block_end by block'", text);
	free(copy);
	return good;
}

bool spans_given(struct spans *spans, const struct tp_args *args, int option)
{
	for (size_t i = 0; i < args->nr_options; i++) {
		if (args->options[i].id == option && !spans_add(spans, args->options[i].value))
			return false;
	}
	return true;
}

void spans_free(struct spans *spans)
{
	for (size_t i = 0; i < spans->nr; i++) {
		struct span *span = &spans->all[i];
		for (int side = KEY_OF_BEGIN; side <= KEY_OF_END; side++) {
			selection_free(span->events[side]);
			free(span->key[side].copy);
		}
		if (span->pairs.tags)
			tp_pairs_close(&span->pairs);
		free(span->lanes.free);
		free(span->name);
	}
	free(spans->all);
}

/* ---- What the traces have ---- */

bool span_role_of(struct span_role *role, const struct span *span, size_t trace_nr, const struct trace *trace,
		  const struct event_format *format, const struct tp_event *described)
{
	const char *missing = NULL;

	for (int side = KEY_OF_BEGIN; side <= KEY_OF_END && !missing; side++) {
		role->is[side] = selection_takes(span->events[side], trace_nr, trace, format);
		if (role->is[side])
			missing = key_fields_find(&role->key[side], described, &span->key[side]);
	}
	return !missing || key_field_lacks(described, missing);
}

static bool check_format(const struct spans *spans, size_t trace_nr, const struct trace *trace, const struct event_format *format)
{
	struct tp_event *described = description_new(format);
	struct span_role role;
	bool good = described != NULL;

	for (size_t i = 0; i < spans->nr && good; i++)
		good = span_role_of(&role, &spans->all[i], trace_nr, trace, format, described);
	description_free(described);
	return good;
}

bool spans_check(struct spans *spans, const struct traces *traces)
{
	for (size_t i = 0; i < spans->nr; i++) {
		for (int side = KEY_OF_BEGIN; side <= KEY_OF_END; side++) {
			if (!selection_check(spans->all[i].events[side], traces))
				return false;
		}
	}
	for (size_t t = 0; t < traces->nr && spans->nr; t++) {
		for (size_t id = 0; id < NR_EVENT_IDS; id++) {
			const struct event_format *format = traces->traces[t].formats.by_id[id];
			if (format && !check_format(spans, t, &traces->traces[t], format))
				return false;
		}
	}
	return true;
}

/* ---- Events ---- */

static uint32_t take_lane(struct span_lanes *lanes)
{
	return lanes->nr_free ? lanes->free[--lanes->nr_free] : (uint32_t)lanes->nr++;
}

/* Without memory, the lane is not used again. */
static void free_lane(struct span_lanes *lanes, uint32_t lane)
{
	if (lanes->nr_free == lanes->room) {
		const size_t room = 2 * lanes->room + 16;
		uint32_t *more = reallocarray(lanes->free, room, sizeof(*more));
		if (!more)
			return;
		lanes->free = more;
		lanes->room = room;
	}
	lanes->free[lanes->nr_free++] = lane;
}

bool span_ends(struct span *span, const struct span_role *role, size_t trace_nr, const struct trace *trace, const struct event *event,
	       uint32_t *lane)
{
	struct tp_pair begin;

	if (!role->is[KEY_OF_END] || !selection_wants(span->events[KEY_OF_END], trace_nr, trace, event) ||
	    !tp_pairs_end(&span->pairs, key_of_event(&role->key[KEY_OF_END], event), &begin, NULL))
		return false;
	*lane = (uint32_t)begin.data;
	if (span->key[KEY_OF_BEGIN].nr)
		free_lane(&span->lanes, *lane);
	return true;
}

bool span_begins(struct span *span, const struct span_role *role, size_t trace_nr, const struct trace *trace, const struct event *event,
		 uint32_t *lane)
{
	if (!role->is[KEY_OF_BEGIN] || !selection_wants(span->events[KEY_OF_BEGIN], trace_nr, trace, event))
		return false;
	*lane = span->key[KEY_OF_BEGIN].nr ? take_lane(&span->lanes) : 0;
	const struct tp_pair begin = {.time = event->time, .data = *lane};
	tp_pairs_begin(&span->pairs, key_of_event(&role->key[KEY_OF_BEGIN], event), &begin, NULL);
	return true;
}
