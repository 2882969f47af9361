/* SPDX-License-Identifier: MIT */
/*
 * events/synthetic_record.c - see synthetic_record.h.
 */
#include <string.h>

#include <tp/print.h>
#include <tp/trace_seq.h>

#include "base/base.h"
#include "base/thread.h"
#include "events/record_words.h"
#include "events/field.h"
#include "core/iterate.h"
#include "events/synthetic_record.h"
#include "record/record.h"

/* ---- Where the words go ---- */

static bool has_payload(const struct tp_event_field *field)
{
	return field->kind == TP_STRING || field->kind == TP_DYNAMIC_ARRAY;
}

static bool is_number(const struct tp_event_field *field)
{
	return field->kind == TP_FIELD;
}

static bool is_array(const struct tp_event_field *field)
{
	return field->kind == TP_ARRAY;
}

/* Appends the steps of the fields that are such. */
static struct tp_word_step *add_steps(struct tp_word_step *step, const struct tp_synthetic_format *format,
				      bool (*is_such)(const struct tp_event_field *field))
{
	for (uint32_t i = 0; i < format->nr; i++) {
		const struct tp_event_field *field = &format->fields[i];
		if (is_such(field))
			*step++ = (struct tp_word_step){
				.offset = (uint16_t)field->offset, .size = (uint16_t)field->size, .word = (uint8_t)i,
				.is_stack = field->kind == TP_DYNAMIC_ARRAY, .most = tp_words_most(-1),
			};
	}
	return step;
}

/*
 * A histogram may make records of the very event that it counts. So many of its hits may be inside one another, those of
 * signal handlers included.
 */
#define DEPTH_MAX 8u

static TP_THREAD_LOCAL unsigned int depth;

static void leave(void)
{
	depth = 0;
}

void tp_synthetic_plan(struct tp_synthetic_event *to)
{
	struct tp_word_step *step = to->steps;

	to->words.payloads = step;
	to->words.numbers = step = add_steps(step, &to->format, has_payload);
	to->words.arrays = step = add_steps(step, &to->format, is_number);
	to->words.end = add_steps(step, &to->format, is_array);
	tp_thread_arm(leave);
}

/* ---- Recording ---- */

static const struct tp_synthetic_event *described(const struct tp_event *event)
{
	return (const struct tp_synthetic_event *)(const void *)event;
}

void tp_synthetic_record(void *data, const struct tp_event *event, const uint64_t *words)
{
	tp_words_write(data, event, &described(event)->words, words);
}

static void call(tp_probe_t probe, void *data, const struct tp_event *event, const uint64_t *words)
{
	if (depth <= DEPTH_MAX)
		((tp_synthetic_probe *)probe)(data, event, words);
	else if (probe == event->record)
		tp_sink_lose(data, TP_LOST_NESTED);
}

void tp_synthetic_iterate(const struct tp_synthetic_event *to, const uint64_t *words)
{
	const struct tracepoint *tp = to->event.tracepoint;
	tp_probe_t probe;
	int hit;

	if (!tp_tracepoint_is_on(tp))
		return;
	depth++;
	for (const struct tracepoint_func *it = tp_iterate_enter(tp, &hit); it && (probe = tp_probe_func(it)); it++) {
		if (probe != TP_REMOVED)
			call(probe, it->data, &to->event, words);
	}
	tp_iterate_leave(hit);
	depth--;
}

/* ---- Printing ---- */

static void print_stack(struct trace_seq *p, const char *entry, tp_data_loc_t loc)
{
	const unsigned long *at = (const unsigned long *)(const void *)(entry + (loc & 0xffff));
	const unsigned long *end = at + (loc >> 16) / sizeof(*at);

	trace_seq_puts(p, "STACK:");
	for (; at < end; at++) {
		const size_t start = p->len;
		tp_printk(p, start, " => %s", tp_seq_pointer(p, "S", -1, (const void *)*at));
	}
}

/* conversion is of a number's own type: an int's, a long's or a long long's. */
static void print_number(struct trace_seq *p, const char *conversion, uint64_t value)
{
	if (strstr(conversion, "ll"))
		trace_seq_printf(p, conversion, (unsigned long long)value);
	else if (strchr(conversion, 'l'))
		trace_seq_printf(p, conversion, (unsigned long)value);
	else
		trace_seq_printf(p, conversion, (unsigned int)value);
}

static void print_field(struct trace_seq *p, const struct tp_synthetic_format *format, uint32_t i, const char *entry)
{
	const struct tp_event_field *field = &format->fields[i];
	const char *at = entry + field->offset;
	const tp_data_loc_t loc = has_payload(field) ? *(const tp_data_loc_t *)(const void *)at : 0;

	trace_seq_printf(p, "%s%s=", i ? " " : "", field->name);
	if (field->kind == TP_STRING)
		trace_seq_puts(p, entry + (loc & 0xffff));
	else if (field->kind == TP_DYNAMIC_ARRAY)
		print_stack(p, entry, loc);
	else if (field->kind == TP_ARRAY)
		trace_seq_printf(p, "%.*s", (int)field->size, at);
	else
		print_number(p, format->conversions[i], tp_field_load(field, at));
}

void tp_synthetic_print(struct trace_seq *p, const void *entry)
{
	const struct tp_event *event = tp_by_id(((const struct trace_entry *)entry)->type);

	if (!event)
		return;
	for (uint32_t i = 0; i < described(event)->format.nr; i++)
		print_field(p, &described(event)->format, i, entry);
}
