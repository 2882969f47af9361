/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/json.c - statistics as one JSON object, for programs.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "base/text.h"
#include "sinks/stats/stats.h"

typedef unsigned long long number;

static void put_base(struct tp_buffer *b, const struct tp_stats_report *report, const struct tp_stats_base *base)
{
	const struct tp_clock *clock = &report->sink->refined;

	tp_buffer_printf(b, "\"hits\": %llu, \"rate\": %.6g, ", (number)base->hits,
			 report->seconds > 0 ? (double)base->hits / report->seconds : 0);
	tp_buffer_printf(b, "\"first_ns\": %llu, \"last_ns\": %llu, \"intervals\": %llu",
			 (number)tp_clock_to_ns(clock, base->first), (number)tp_clock_to_ns(clock, base->last),
			 (number)base->intervals);
	if (base->intervals)
		tp_buffer_printf(b,
				 ", \"interval_min_ns\": %llu, \"interval_mean_ns\": %.1f, \"interval_max_ns\": %llu",
				 (number)tp_stats_ns(clock, base->min),
				 (double)tp_stats_ns(clock, base->sum) / (double)base->intervals,
				 (number)tp_stats_ns(clock, base->max));
}

static void put_histogram(struct tp_buffer *b, const struct tp_stats_field *field, const uint64_t *buckets)
{
	const unsigned int nr = tp_stats_nr_buckets(field);
	const char *between = "";

	tp_buffer_printf(b, ",\n     \"histogram\": [");
	for (unsigned int place = 0; place < nr; place++) {
		unsigned int i = tp_stats_bucket(nr, place);
		if (!buckets[i])
			continue;
		tp_buffer_printf(b, "%s{\"from\": ", between);
		tp_stats_put_bucket(b, field, i, ", \"to\": ");
		tp_buffer_printf(b, ", \"count\": %llu}", (number)buckets[i]);
		between = ", ";
	}
	tp_buffer_printf(b, "]");
}

static void put_integers(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_numbers *n)
{
	tp_buffer_printf(b, "\"kind\": \"integer\", \"count\": %llu, \"sum\": ", (number)n->count);
	tp_stats_put_sum(b, n);
	tp_buffer_printf(b, ", \"min\": ");
	tp_stats_put_integer(b, field, n->min);
	tp_buffer_printf(b, ", \"max\": ");
	tp_stats_put_integer(b, field, n->max);
	tp_buffer_printf(b, ", \"mean\": %.17g", tp_stats_mean(n));
	put_histogram(b, field, n->buckets);
}

static void put_floats(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_numbers *n)
{
	tp_buffer_printf(b, "\"kind\": \"float\", \"count\": %llu, \"nan\": %llu, \"infinite\": %llu, "
			    "\"negative_infinite\": %llu",
			 (number)n->count, (number)n->nan, (number)n->infinite, (number)n->negative_infinite);
	if (n->count)
		tp_buffer_printf(b, ", \"min\": %.17g, \"max\": %.17g", tp_stats_float_of(n->min), tp_stats_float_of(n->max));
	if (n->count && __builtin_isfinite(n->sum)) /* JSON has no infinity */
		tp_buffer_printf(b, ", \"sum\": %.17g, \"mean\": %.17g", n->sum, n->sum / (double)n->count);
	put_histogram(b, field, n->buckets);
}

static void put_value(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_value *value)
{
	struct tp_buffer name = {.text = NULL};
	char text[TP_STATS_TEXT_BYTES + 1];

	if (field->kind == TP_STATS_TEXT) {
		tp_stats_text_of(text, value->key);
		tp_buffer_printf(b, "{\"value\": ");
		tp_json_string(b, text);
		tp_buffer_printf(b, ", \"length\": %llu", (number)value->key[0]);
	} else {
		tp_buffer_printf(b, "{\"value\": ");
		tp_stats_put_integer(b, field, value->key[0] ^ (uint64_t)field->value.is_signed << 63);
		if (tp_value_names_put(&name, field->names, value->key[0]) && !name.failed) {
			tp_buffer_printf(b, ", \"name\": ");
			tp_json_string(b, name.text);
		}
		tp_buffer_free(&name);
	}
	tp_buffer_printf(b, ", \"count\": %llu}", (number)value->count);
}

static void put_top(struct tp_buffer *b, const struct tp_stats_field *field, uint64_t shown)
{
	struct tp_stats_values top;

	tp_stats_values_take(&top, field, shown);
	tp_buffer_printf(b, "\"kind\": \"%s\", \"count\": %llu, \"distinct\": %zu,\n     \"top\": [",
			 field->kind == TP_STATS_TEXT ? "text" : "symbol", (number)top.count, top.nr);
	for (size_t i = 0; i < top.shown; i++) {
		tp_buffer_printf(b, "%s", i ? ",\n      " : "");
		put_value(b, field, &top.values[i]);
	}
	tp_buffer_printf(b, "],\n     \"rest\": %llu, \"other\": %llu", (number)top.rest, (number)top.other);
	free(top.values);
}

static void put_numbers(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_counters *counters)
{
	struct tp_stats_numbers n;

	tp_stats_numbers_take(&n, field, counters);
	if (field->kind == TP_STATS_FLOAT)
		put_floats(b, field, &n);
	else
		put_integers(b, field, &n);
}

static void put_field(struct tp_buffer *b, const struct tp_stats_report *report, const struct tp_stats_plan *plan,
		      const struct tp_stats_field *field)
{
	tp_buffer_printf(b, "    {\"field\": ");
	tp_json_string(b, field->name);
	tp_buffer_printf(b, ", ");
	if (tp_stats_has_numbers(field))
		put_numbers(b, field, plan->counters);
	else
		put_top(b, field, report->sink->options.top);
	tp_buffer_printf(b, "}");
}

static void put_threads(struct tp_buffer *b, const struct tp_stats_report *report, const struct tp_stats_event *event)
{
	tp_buffer_printf(b, ",\n   \"threads\": [");
	for (const struct tp_stats_row *row = event->rows; row; row = row->next) {
		tp_buffer_printf(b, "%s\n    {", row == event->rows ? "" : ",");
		if (row->others) {
			tp_buffer_printf(b, "\"others\": true, ");
		} else {
			tp_buffer_printf(b, "\"tid\": %d, \"name\": ", (int)row->tid);
			tp_json_string(b, row->name);
			tp_buffer_printf(b, ", \"exited\": %s, ", row->exited ? "true" : "false");
		}
		put_base(b, report, &row->base);
		tp_buffer_printf(b, "}");
	}
	tp_buffer_printf(b, "]");
}

static void put_event(struct tp_buffer *b, const struct tp_stats_report *report, const struct tp_stats_event *event)
{
	const struct tp_stats_plan *plan = event->plan;

	tp_buffer_printf(b, "  {\"event\": ");
	tp_json_string(b, plan->name);
	tp_buffer_printf(b, ", ");
	put_base(b, report, &event->base);
	if (plan->nr_fields)
		tp_buffer_printf(b, ",\n   \"fields\": [\n");
	for (uint32_t i = 0; i < plan->nr_fields; i++) {
		put_field(b, report, plan, &plan->fields[i]);
		tp_buffer_printf(b, i + 1 < plan->nr_fields ? ",\n" : "]");
	}
	if (report->sink->options.by_thread)
		put_threads(b, report, event);
	tp_buffer_printf(b, "}");
}

void tp_stats_json(struct tp_buffer *b, const struct tp_stats_report *report)
{
	struct tp_sink *head = &report->sink->head;

	tp_buffer_printf(b, "{\"version\": 1, \"program\": ");
	tp_json_string(b, tp_program_name);
	tp_buffer_printf(b, ", \"pid\": %d, \"begin_ns\": %llu, \"time_ns\": %llu, \"seconds\": %.6f, \"final\": %s,\n",
			 (int)getpid(), (number)report->begin_ns, (number)report->now_ns, report->seconds,
			 report->final ? "true" : "false");
	tp_buffer_printf(b, " \"lost\": %lu, \"events\": [", tp_sink_lost(head));
	for (size_t i = 0; i < report->nr_events; i++) {
		tp_buffer_printf(b, i ? ",\n" : "\n");
		put_event(b, report, &report->events[i]);
	}
	tp_buffer_printf(b, "]}\n");
}
