/* SPDX-License-Identifier: MIT */
#include "latency/of_traces.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "count/pairs.h"
#include "events/pattern.h"
#include "fail_msg.h"
#include "read/fields.h"
#include "read/traces.h"
#include "report/merge.h"
#include "report/printer.h"

enum { BEGIN, END, NR_ROLES };

/* A value of an event. */
struct part {
	enum { PART_FIELD, PART_TID, PART_CPU, PART_COMM } source;
	struct field field;
};

struct parts {
	struct part parts[LATENCY_FIELDS];
	size_t nr;
};

/* An event of a trace. */
struct matched {
	bool has_role[NR_ROLES], has_by;
	struct parts key[NR_ROLES], by;
	struct fields fields; /* that the parts are pieces of */
};

/* Names of fields, of a copy. */
struct names {
	char *copy;
	char *names[LATENCY_FIELDS];
	size_t nr;
};

struct measuring {
	const struct latency_wanted *wanted;
	struct latency *latency;
	struct tp_pattern *events[NR_ROLES];
	struct names key[NR_ROLES], by;
	struct tp_buffer misfit[NR_ROLES]; /* why the first event that lacks a field is not taken */
	size_t nr_of_role[NR_ROLES];
	bool by_of_end, by_of_begin;
	struct traces traces;
	struct merge merge;
	struct matched **matched; /* of each trace, by id; NULL: it is neither */
	struct tp_pairs pairs;
	struct printer *printer;
	uint64_t last;            /* time */
};

/* ---- Fields ---- */

/* side: which of "id:request" is meant. */
static bool take_names(struct names *names, const char *text, int side)
{
	*names = (struct names){.copy = strdup(text ? text : "")};
	if (!names->copy)
		return fail_no_memory();
	for (char *save, *name = strtok_r(names->copy, ",+", &save); name; name = strtok_r(NULL, ",+", &save)) {
		char *colon = strchr(name, ':');
		if (names->nr == LATENCY_FIELDS)
			return fail_msg("'%s' has more than %d fields", text, LATENCY_FIELDS);
		if (colon)
			*colon = '\0';
		names->names[names->nr++] = colon && side == END ? colon + 1 : name;
	}
	return true;
}

static bool find_part(struct part *part, const struct fields *fields, const char *name)
{
	static const struct {
		const char *name;
		int source;
	} common[] = {{"common_pid", PART_TID}, {"cpu", PART_CPU}, {"CPU", PART_CPU}, {"comm", PART_COMM}, {"COMM", PART_COMM}};
	const struct field *field = field_named(fields, name);

	if (field) {
		const bool is_number = !field->is_array && !field->is_payload && field->kind != FIELD_REAL && field->kind != FIELD_BYTES;
		*part = (struct part){.source = PART_FIELD, .field = *field};
		return is_number || field->kind == FIELD_TEXT;
	}
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++) {
		if (strcmp(common[i].name, name) == 0) {
			part->source = (unsigned int)common[i].source;
			return true;
		}
	}
	return false;
}

/* The name of what is missing, or NULL. */
static const char *find_parts(struct parts *parts, const struct fields *fields, const struct names *names)
{
	for (parts->nr = 0; parts->nr < names->nr; parts->nr++) {
		if (!find_part(&parts->parts[parts->nr], fields, names->names[parts->nr]))
			return names->names[parts->nr];
	}
	return NULL;
}

/* ---- Events ---- */

static void find_role(struct measuring *m, struct matched *matched, const char *name, int role)
{
	const char *missing;

	if (!tp_pattern_matches(m->events[role], name))
		return;
	missing = find_parts(&matched->key[role], &matched->fields, &m->key[role]);
	matched->has_role[role] = !missing;
	m->nr_of_role[role] += !missing;
	if (!missing || m->misfit[role].len)
		return;
	tp_buffer_printf(&m->misfit[role], "event '%s' has no field '%s' that is a number or a text; it has", name, missing);
	for (size_t i = 0; i < matched->fields.nr; i++)
		tp_buffer_printf(&m->misfit[role], "%s %.*s", i ? "," : "", (int)matched->fields.fields[i].name_len,
				 matched->fields.fields[i].name);
}

static bool match(struct measuring *m, struct matched **made, const struct event_format *format)
{
	struct matched matched = {.has_by = false};
	char *full_name;
	size_t len;
	const char *name = format_event_name(format, &len);

	if (asprintf(&full_name, "%s:%.*s", format->system, (int)len, name) < 0)
		return fail_no_memory();
	const bool is_any = tp_pattern_matches(m->events[BEGIN], full_name) || tp_pattern_matches(m->events[END], full_name);
	bool good = !is_any || fields_of(&matched.fields, format);
	for (int role = BEGIN; is_any && good && role < NR_ROLES; role++)
		find_role(m, &matched, full_name, role);
	free(full_name);
	matched.has_by = good && m->by.nr && !find_parts(&matched.by, &matched.fields, &m->by);
	m->by_of_end |= matched.has_by && matched.has_role[END];
	m->by_of_begin |= matched.has_by && matched.has_role[BEGIN];
	*made = good && (matched.has_role[BEGIN] || matched.has_role[END]) ? malloc(sizeof(**made)) : NULL;
	if (*made)
		**made = matched;
	else
		free(matched.fields.fields);
	return good;
}

static bool match_all(struct measuring *m)
{
	m->matched = calloc(m->traces.nr * NR_EVENT_IDS + 1, sizeof(*m->matched));
	if (!m->matched)
		return fail_no_memory();
	for (size_t t = 0; t < m->traces.nr; t++) {
		for (size_t id = 0; id < NR_EVENT_IDS; id++) {
			const struct event_format *format = m->traces.traces[t].formats.by_id[id];
			if (format && !match(m, &m->matched[t * NR_EVENT_IDS + id], format))
				return false;
		}
	}
	for (int role = BEGIN; role < NR_ROLES; role++) {
		const char *name = role == BEGIN ? m->wanted->begin : m->wanted->end;
		if (!m->nr_of_role[role])
			return m->misfit[role].len ? fail_msg("%s", m->misfit[role].text) : fail_msg("no event in the trace matches '%s'", name);
	}
	return !m->by.nr || m->by_of_end || m->by_of_begin || fail_msg("neither the begin nor the end has '%s'", m->wanted->by);
}

/* ---- Values ---- */

static uint64_t number_of(const struct part *part, const struct event *event)
{
	if (part->source == PART_TID)
		return (uint64_t)event->tid;
	if (part->source == PART_CPU)
		return (uint64_t)event->cpu;
	return field_number(&part->field, event->record + part->field.place.offset);
}

/* NULL: it is a number. */
static const char *text_of(const struct part *part, const struct event *event, size_t *len)
{
	uint32_t size = part->field.size;
	const unsigned char *at;

	if (part->source == PART_COMM) {
		*len = strnlen(event->name, COMM_SIZE);
		return event->name;
	}
	if (part->source != PART_FIELD || part->field.kind != FIELD_TEXT || !(part->field.is_array || part->field.is_payload))
		return NULL;
	at = part->field.is_payload ? field_payload(&part->field, event->record, event->size, &size) : event->record + part->field.place.offset;
	*len = strnlen((const char *)at, size);
	return (const char *)at;
}

static struct tp_pair_key key_of(const struct parts *parts, const struct event *event)
{
	struct tp_count_key key;

	key.nr = 0;
	key.words[key.nr++] = (uint64_t)event->pid;
	for (size_t i = 0; i < parts->nr; i++) {
		size_t len = 0;
		const char *text = text_of(&parts->parts[i], event, &len);
		if (text)
			tp_count_key_add_text(&key, text, len);
		else
			key.words[key.nr++] = number_of(&parts->parts[i], event);
	}
	if (!parts->nr)
		key.words[key.nr++] = (uint64_t)event->tid;
	return tp_pair_key_of(&key);
}

/* ---- Groups: a begin that waits remembers the number of its own ---- */

static struct latency_group *group_of(struct measuring *m, const struct parts *by, const struct event *event)
{
	struct tp_buffer name = {.text = NULL}, values = {.text = NULL};
	struct latency_group *group = NULL;

	tp_buffer_printf(&values, "[");
	for (size_t i = 0; i < by->nr; i++) {
		const struct part *part = &by->parts[i];
		size_t len = 0;
		const char *text = text_of(part, event, &len);
		const bool is_signed = part->source == PART_FIELD && part->field.kind == FIELD_SIGNED;
		tp_buffer_printf(&values, "%s{\"value\": ", i ? ", " : "");
		tp_buffer_printf(&name, "%s", i ? ", " : "");
		char *copy = text ? strndup(text, len) : NULL;
		if (copy) {
			tp_buffer_printf(&name, "%s", copy);
			tp_json_string(&values, copy);
		} else {
			char digits[24];
			const unsigned long long n = number_of(part, event);
			snprintf(digits, sizeof(digits), is_signed ? "%lld" : "%llu", n);
			tp_buffer_printf(&name, "%s", digits);
			tp_buffer_printf(&values, "%s", digits);
		}
		free(copy);
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
	struct printer_item item = {.format = kept->format, .trace_nr = kept->trace_nr, .record = kept->record, .size = kept->size};
	const char *text = "(its record was too long to be kept)";
	struct tp_buffer line = {.text = NULL};
	size_t len, text_len = strlen(text);
	const char *name = format_event_name(kept->format, &len);

	if (kept->size) {
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
	tp_pairs_begin(&m->pairs, key_of(&matched->key[BEGIN], event), &pair, &kept);
	return true;
}

static bool end(struct measuring *m, const struct matched *matched, const struct merged *merged)
{
	static const struct parts none;
	const struct event *event = &merged->event;
	struct tp_pair pair;
	struct kept kept;

	if (!tp_pairs_end(&m->pairs, key_of(&matched->key[END], event), &pair, &kept))
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

static bool measure(struct measuring *m)
{
	enum packet_result result;
	struct merged merged;

	while ((result = merge_next(&m->merge, &merged)) == PACKET_EVENT) {
		const struct event *event = &merged.event;
		if (merged.lost && merged.lost != TRACE_LOST_UNKNOWN)
			m->latency->lost += merged.lost;
		if (!event->format)
			continue;
		m->last = event->time;
		const struct matched *matched = m->matched[merged.trace_nr * NR_EVENT_IDS + event->format->id];
		if (matched && matched->has_role[END] && !end(m, matched, &merged))
			return false;
		if (matched && matched->has_role[BEGIN] && !begin(m, matched, &merged))
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

static bool take_pattern(struct tp_pattern **pattern, const char *text)
{
	int error;

	*pattern = tp_pattern_new(text, &error);
	return *pattern || (error == -ENOMEM ? fail_no_memory() : fail_msg("'%s' is no event", text));
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
			free(m->matched[i]->fields.fields);
		free(m->matched[i]);
	}
	free(m->matched);
	for (int role = BEGIN; role < NR_ROLES; role++) {
		tp_pattern_free(m->events[role]);
		free(m->key[role].copy);
		tp_buffer_free(&m->misfit[role]);
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
	bool good = set_names(latency, wanted) && take_pattern(&m.events[BEGIN], wanted->begin) && take_pattern(&m.events[END], wanted->end) &&
		    take_names(&m.key[BEGIN], wanted->key, BEGIN) && take_names(&m.key[END], wanted->key, END) &&
		    take_names(&m.by, wanted->by, BEGIN) && traces_open(&m.traces, paths, nr) && match_all(&m) &&
		    merge_begin(&m.merge, m.traces.traces, m.traces.nr);

	if (good && !tp_pairs_open(&m.pairs, true))
		good = fail_no_memory();
	m.printer = good && wanted->slowest ? printer_new(m.traces.nr) : NULL;
	good = good && (m.printer || !wanted->slowest) && measure(&m);
	if (good)
		finish(&m);
	release(&m);
	return good;
}
