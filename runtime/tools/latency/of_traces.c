/* SPDX-License-Identifier: MIT */
#include "latency/of_traces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "count/names.h"
#include "count/pairs.h"
#include "fail_msg.h"
#include "read/traces.h"
#include "report/merge.h"
#include "report/printer.h"
#include "report/progress.h"
#include "select/description.h"
#include "select/event_key.h"
#include "select/selection.h"

#define EACH 1024 /* events between two looks at the bar */

enum { BEGIN, END, NR_ROLES };

/* An event of a trace. */
struct matched {
	bool has_role[NR_ROLES], has_by;
	struct key_fields key[NR_ROLES], by;
	struct tp_event *described; /* the fields are pieces of it */
};

struct measuring {
	const struct latency_wanted *wanted;
	struct latency *latency;
	struct selection *events[NR_ROLES];
	struct key_names key[NR_ROLES], by;
	bool by_of_end, by_of_begin;
	struct traces traces;
	struct merge merge;
	struct matched **matched; /* of each trace, by id */
	struct tp_pairs pairs;
	struct printer *printer;
	uint64_t last;            /* time */
	struct progress progress;
};

/* ---- Events ---- */

/* What an event is, which is the first of its kind in its trace. NULL, and a message. */
static struct matched *look(struct measuring *m, struct matched *matched, const struct event_format *format)
{
	const char *missing = NULL;

	matched->described = description_new(format);
	if (!matched->described)
		return NULL;
	for (int role = BEGIN; role < NR_ROLES && !missing; role++) {
		if (matched->has_role[role])
			missing = key_fields_find(&matched->key[role], matched->described, &m->key[role]);
	}
	if (missing) {
		key_field_lacks(matched->described, missing);
		return NULL;
	}
	matched->has_by = m->by.nr && !key_fields_find(&matched->by, matched->described, &m->by);
	return matched;
}

/* All that the traces have: whether there is something to measure. */
static bool look_at_all(struct measuring *m)
{
	for (size_t t = 0; t < m->traces.nr; t++) {
		for (size_t id = 0; id < NR_EVENT_IDS; id++) {
			const struct event_format *format = m->traces.traces[t].formats.by_id[id];
			struct matched matched = {.described = NULL};
			for (int role = BEGIN; format && role < NR_ROLES; role++)
				matched.has_role[role] = selection_takes(m->events[role], t, &m->traces.traces[t], format);
			if (!matched.has_role[BEGIN] && !matched.has_role[END])
				continue;
			struct matched *made = malloc(sizeof(*made));
			if (!made)
				return fail_no_memory();
			*made = matched;
			m->matched[t * NR_EVENT_IDS + id] = made;
			if (!look(m, made, format))
				return false;
			m->by_of_end |= made->has_by && made->has_role[END];
			m->by_of_begin |= made->has_by && made->has_role[BEGIN];
		}
	}
	return !m->by.nr || m->by_of_end || m->by_of_begin || fail_msg("neither the begin nor the end has %s'%s'", m->by.nr > 1 ? "all of " : "", m->wanted->by);
}

/* ---- Groups: a begin that waits remembers the number of its own ---- */

static void put_number(struct tp_buffer *name, struct tp_buffer *values, const struct record_field *field, uint64_t number)
{
	struct tp_buffer named = {.text = NULL};
	char digits[24];

	snprintf(digits, sizeof(digits), field->field.is_signed ? "%lld" : "%llu", (unsigned long long)number);
	tp_buffer_printf(values, "%s", digits);
	const bool has_name = field->field.is_own && tp_value_names_put(&named, field->field.described.symbols, number) && !named.failed;
	tp_buffer_printf(name, "%s", has_name ? named.text : digits);
	if (has_name) {
		tp_buffer_printf(values, ", \"name\": ");
		tp_json_string(values, named.text);
	}
	tp_buffer_free(&named);
}

/* For people, and as JSON. */
static void put_value(struct tp_buffer *name, struct tp_buffer *values, const struct record_field *field, const struct event *event)
{
	struct tp_value_bytes text = {.at = NULL};
	uint64_t number;

	if (record_field_number(field, event, &number)) {
		put_number(name, values, field, number);
		return;
	}
	record_field_text(field, event, &text);
	char *copy = strndup(text.at ? text.at : "", text.len < TP_COUNT_TEXT_BYTES ? text.len : TP_COUNT_TEXT_BYTES);
	name->failed = name->failed || !copy;
	tp_buffer_printf(name, "%s", copy ? copy : "");
	tp_json_string(values, copy ? copy : "");
	free(copy);
}

static struct latency_group *group_of(struct measuring *m, const struct key_fields *by, const struct event *event)
{
	struct tp_buffer name = {.text = NULL}, values = {.text = NULL};
	struct latency_group *group = NULL;

	tp_buffer_printf(&values, "[");
	for (size_t i = 0; i < by->nr; i++) {
		tp_buffer_printf(&values, "%s{\"value\": ", i ? ", " : "");
		tp_buffer_printf(&name, "%s", i ? ", " : "");
		put_value(&name, &values, &by->fields[i], event);
		tp_buffer_printf(&values, "}");
	}
	tp_buffer_printf(&values, "]");
	if (!by->nr)
		tp_buffer_printf(&name, "%s", "");
	if (name.failed || values.failed)
		fail_no_memory();
	else
		group = latency_group(m->latency, name.text, values.text);
	tp_buffer_free(&name);
	tp_buffer_free(&values);
	return group;
}

/* ---- Events ---- */

/* What is kept of a begin. */
struct kept {
	uint64_t time;
	const struct event_format *format;
	size_t trace_nr;
	int32_t tid, pid;
	uint32_t size;
	_Alignas(8) unsigned char record[TP_PAIRS_RECORD - 40];
};
_Static_assert(sizeof(struct kept) <= TP_PAIRS_RECORD, "it fits");

static void keep(struct kept *kept, const struct merged *merged)
{
	const struct event *event = &merged->event;

	*kept = (struct kept){
		.time = event->time, .format = event->format, .trace_nr = merged->trace_nr, .tid = event->tid, .pid = event->pid,
		.size = event->size <= sizeof(kept->record) ? event->size : 0,
	};
	memcpy(kept->record, event->record, kept->size);
}

/* As the text output has it; NULL: no memory. */
static char *line_of(struct measuring *m, const struct kept *kept)
{
	struct printer_item item = {.format = kept->format, .trace_nr = kept->trace_nr, .size = kept->size};
	const char *text = "(its record was too long to be kept)";
	struct tp_buffer line = {.text = NULL};
	size_t len, text_len = strlen(text);
	const char *name = format_event_name(kept->format, &len);

	if (kept->size) {
		item.record = printer_record(printer_records(m->printer), kept->record, kept->size);
		printer_print(m->printer, &item, 1);
		text = item.text ? item.text : "(it can't be printed)";
		text_len = item.text ? item.len : strlen(text);
	}
	tp_buffer_printf(&line, "%llu.%09llu %d/%d %s:%.*s: ", (unsigned long long)(kept->time / 1000000000u),
			 (unsigned long long)(kept->time % 1000000000u), (int)kept->pid, (int)kept->tid, kept->format->system, (int)len, name);
	tp_buffer_put_plain(&line, text, text_len);
	return line.text;
}

static void add_slow(struct measuring *m, uint64_t ns, const struct kept *begin, const struct merged *merged)
{
	const struct latency *latency = m->latency;
	const size_t wanted = m->wanted->slowest;
	struct kept end;

	if (!wanted || (latency->nr_slowest == wanted && latency->slowest[wanted - 1].ns >= ns))
		return;
	keep(&end, merged);
	latency_keep(m->latency, wanted, (struct latency_pair){.ns = ns, .begin = line_of(m, begin), .end = line_of(m, &end)});
}

static bool begin(struct measuring *m, const struct matched *matched, const struct merged *merged)
{
	const struct event *event = &merged->event;
	struct tp_pair pair = {.time = event->time, .size = sizeof(struct kept)};
	struct kept kept;

	if (!m->by_of_end && matched->has_by) {
		const struct latency_group *group = group_of(m, &matched->by, event);
		if (!group)
			return false;
		pair.data = 1 + (uint64_t)(group - m->latency->groups);
	}
	keep(&kept, merged);
	tp_pairs_begin(&m->pairs, key_of_event(&matched->key[BEGIN], event), &pair, &kept);
	return true;
}

static bool end(struct measuring *m, const struct matched *matched, const struct merged *merged)
{
	static const struct key_fields none;
	const struct event *event = &merged->event;
	struct tp_pair pair;
	struct kept kept;

	if (!tp_pairs_end(&m->pairs, key_of_event(&matched->key[END], event), &pair, &kept))
		return true;
	struct latency_group *group = pair.data ? &m->latency->groups[pair.data - 1]
						: group_of(m, m->by_of_end && matched->has_by ? &matched->by : &none, event);
	if (!group)
		return false;
	const uint64_t ns = event->time - pair.time;
	latency_group_add(group, ns);
	add_slow(m, ns, &kept, merged);
	return true;
}

/* As the filter says, if there is one. */
static bool wants(struct measuring *m, const struct matched *matched, int role, const struct merged *merged)
{
	return matched->has_role[role] && selection_wants(m->events[role], merged->trace_nr, merged->trace, &merged->event);
}

static bool measure(struct measuring *m)
{
	enum packet_result result;
	struct merged merged;
	uint64_t nr = 0;

	while ((result = merge_next(&m->merge, &merged)) == PACKET_EVENT) {
		if (++nr % EACH == 0)
			progress_show(&m->progress, m->merge.done, m->merge.total);
		const struct event *event = &merged.event;
		if (merged.lost && merged.lost != TRACE_LOST_UNKNOWN)
			m->latency->lost += merged.lost;
		if (!event->format)
			continue;
		m->last = event->time;
		const struct matched *matched = m->matched[merged.trace_nr * NR_EVENT_IDS + event->format->id];
		if (!matched)
			continue;
		if (wants(m, matched, END, &merged) && !end(m, matched, &merged))
			return false;
		if (wants(m, matched, BEGIN, &merged) && !begin(m, matched, &merged))
			return false;
	}
	return result == PACKET_END;
}

/* ---- All ---- */

static bool set_names(struct latency *latency, const struct latency_wanted *wanted)
{
	latency->begin = strdup(wanted->begin);
	latency->end = strdup(wanted->end);
	latency->key = strdup(wanted->key ? wanted->key : "");
	latency->by = strdup(wanted->by ? wanted->by : "");
	return (latency->begin && latency->end && latency->key && latency->by) || fail_no_memory();
}

/* False, and a message: an event is not there, or its filter is wrong. */
static bool select_events(struct measuring *m)
{
	m->matched = calloc(m->traces.nr * NR_EVENT_IDS + 1, sizeof(*m->matched));
	if (!m->matched)
		return fail_no_memory();
	for (int role = BEGIN; role < NR_ROLES; role++) {
		m->events[role] = selection_new(role == BEGIN ? m->wanted->begin : m->wanted->end);
		if (!m->events[role] || !selection_check(m->events[role], &m->traces))
			return false;
	}
	return true;
}

static void finish(struct measuring *m)
{
	uint64_t earliest = m->last;

	m->latency->waiting = tp_pairs_waiting(&m->pairs, &earliest);
	m->latency->oldest_ns = m->last - earliest;
	m->latency->forgotten = m->pairs.forgotten;
	m->latency->unmatched = m->pairs.unmatched;
	latency_sort(m->latency);
}

static void release(struct measuring *m)
{
	for (size_t i = 0; m->matched && i < m->traces.nr * NR_EVENT_IDS; i++) {
		if (m->matched[i])
			description_free(m->matched[i]->described);
		free(m->matched[i]);
	}
	free(m->matched);
	for (int role = BEGIN; role < NR_ROLES; role++) {
		selection_free(m->events[role]);
		free(m->key[role].copy);
	}
	free(m->by.copy);
	tp_pairs_close(&m->pairs);
	printer_free(m->printer);
	merge_free(&m->merge);
	traces_close(&m->traces);
}

bool latency_of_traces(struct latency *latency, const struct latency_wanted *wanted, char *const *paths, size_t nr)
{
	struct measuring m = {.wanted = wanted, .latency = latency};
	bool good = set_names(latency, wanted) && key_names_take(&m.key[BEGIN], wanted->key, KEY_OF_BEGIN) && key_names_take(&m.key[END], wanted->key, KEY_OF_END) &&
		    key_names_take(&m.by, wanted->by, KEY_OF_BEGIN) && traces_open(&m.traces, paths, nr) && select_events(&m) && look_at_all(&m) &&
		    merge_begin(&m.merge, m.traces.traces, m.traces.nr, NULL);

	if (good && !tp_pairs_open(&m.pairs, true))
		good = fail_no_memory();
	m.printer = good && wanted->slowest ? printer_new(m.traces.nr) : NULL;
	progress_begin(&m.progress, isatty(STDOUT_FILENO));
	good = good && (m.printer || !wanted->slowest) && measure(&m);
	progress_end(&m.progress);
	if (good)
		finish(&m);
	release(&m);
	return good;
}
