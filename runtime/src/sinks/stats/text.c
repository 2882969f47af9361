/* SPDX-License-Identifier: MIT */
/*
 * sinks/stats/text.c - statistics as aligned text, for people.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tp/tp.h>

#include "base/message.h"
#include "base/text.h"
#include "sinks/stats/stats.h"

#define NS_PER_S 1000000000u
#define BAR 40   /* characters of the longest */
#define LABEL 43 /* in front of it: two numbers of 64 bits fit */

typedef unsigned long long number;

/*
 * What somebody else has put into a string must not look like more than that: no row of its own, and
 * nothing that the terminal obeys. As in the lines of the text sink, but for a backslash, which
 * is doubled, and bytes that are no UTF-8.
 */
static void put_plain(struct tp_buffer *b, const char *text)
{
	while (*text) {
		const size_t len = tp_printable_char(text, SIZE_MAX);
		if (*text == '\n')
			tp_buffer_printf(b, "\\n");
		else if (*text == '\\')
			tp_buffer_printf(b, "\\\\");
		else if (!len)
			tp_buffer_printf(b, "\\x%02x", (unsigned char)*text);
		else
			tp_buffer_printf(b, "%.*s", (int)len, text);
		text += len ? len : 1;
	}
}

/* Columns of a terminal, if all characters are of UTF-8 and as wide as a letter. */
static size_t width_of(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

/* That wide at least. */
static void put_padded(struct tp_buffer *b, const char *text, size_t width)
{
	const size_t from = b->len;

	put_plain(b, text);
	if (!b->failed && width_of(b->text + from) < width)
		tp_buffer_printf(b, "%*s", (int)(width - width_of(b->text + from)), "");
}

/* ---- Times ---- */

#define SHORT 32

static const char *duration(char text[SHORT], double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (ns >= units[i].ns) {
			snprintf(text, SHORT, "%.2f %s", ns / units[i].ns, units[i].name);
			return text;
		}
	}
	snprintf(text, SHORT, "%.0f ns", ns);
	return text;
}

/* The time of a day; and its date before it. */
static const char *wall(char text[SHORT], uint64_t ns, bool date)
{
	const struct tp_utc utc = tp_utc_of((int64_t)(ns / NS_PER_S));
	char day[SHORT] = "";

	if (date)
		snprintf(day, sizeof(day), "%04lld-%02u-%02u ", (long long)utc.year, utc.month, utc.day);
	snprintf(text, SHORT, "%.11s%02u:%02u:%02u.%06u", day, utc.hour, utc.minute, utc.second,
		 (unsigned int)(ns % NS_PER_S / 1000));
	return text;
}

/* ---- Tables ---- */

#define COLUMNS "%10s  %10s  %10s  %10s  %10s  %-15s  %s\n"

static void put_base(struct tp_buffer *b, const struct tp_stats_report *report, const struct tp_stats_base *base)
{
	const struct tp_clock *clock = &report->sink->refined;
	char hits[SHORT], rate[SHORT], min[SHORT] = "-", mean[SHORT] = "-", max[SHORT] = "-";
	char first[SHORT], last[SHORT];

	snprintf(hits, sizeof(hits), "%llu", (number)base->hits);
	snprintf(rate, sizeof(rate), "%.1f", report->seconds > 0 ? (double)base->hits / report->seconds : 0);
	if (base->intervals) {
		duration(min, (double)tp_stats_ns(clock, base->min));
		duration(mean, (double)tp_stats_ns(clock, base->sum) / (double)base->intervals);
		duration(max, (double)tp_stats_ns(clock, base->max));
	}
	tp_buffer_printf(b, COLUMNS, hits, rate, min, mean, max,
			 wall(first, tp_clock_to_ns(clock, base->first), false),
			 wall(last, tp_clock_to_ns(clock, base->last), false));
}

static void put_heads(struct tp_buffer *b)
{
	tp_buffer_printf(b, COLUMNS, "HITS", "RATE/s", "MIN", "MEAN", "MAX", "FIRST", "LAST");
}

static int widest(const struct tp_stats_report *report)
{
	size_t width = strlen("EVENT");

	for (size_t i = 0; i < report->nr_events; i++) {
		if (strlen(report->events[i].plan->name) > width)
			width = strlen(report->events[i].plan->name);
	}
	return (int)width;
}

static void put_events(struct tp_buffer *b, const struct tp_stats_report *report)
{
	const int width = widest(report);

	tp_buffer_printf(b, "\n%-*s  ", width, "EVENT");
	put_heads(b);
	for (size_t i = 0; i < report->nr_events; i++) {
		tp_buffer_printf(b, "%-*s  ", width, report->events[i].plan->name);
		put_base(b, report, &report->events[i].base);
	}
}

static void put_thread(struct tp_buffer *b, const struct tp_stats_report *report, const struct tp_stats_row *row, int width)
{
	char tid[SHORT] = "-";

	if (!row->others)
		snprintf(tid, sizeof(tid), "%d", (int)row->tid);
	tp_buffer_printf(b, "%-*s  %8s  ", width, row->plan->name, tid);
	put_padded(b, row->others ? "(others)" : row->name, TP_STATS_NAME_SIZE - 1);
	tp_buffer_printf(b, "  ");
	put_base(b, report, &row->base);
}

static void put_threads(struct tp_buffer *b, const struct tp_stats_report *report)
{
	const int width = widest(report);

	tp_buffer_printf(b, "\n%-*s  %8s  %-15s  ", width, "EVENT", "TID", "THREAD");
	put_heads(b);
	for (size_t i = 0; i < report->nr_events; i++) {
		for (const struct tp_stats_row *row = report->events[i].rows; row; row = row->next)
			put_thread(b, report, row, width);
	}
}

/* ---- Fields ---- */

static void put_bar(struct tp_buffer *b, uint64_t count, uint64_t longest)
{
	static const char marks[] = "****************************************";
	_Static_assert(sizeof(marks) == BAR + 1, "as many marks");
	int length = (int)((double)count * BAR / (double)longest + 0.5);

	tp_buffer_printf(b, "  %10llu %.*s\n", (number)count, length > 0 ? length : 1, marks);
}

static void put_histogram(struct tp_buffer *b, const struct tp_stats_field *field, const uint64_t *buckets)
{
	const unsigned int nr = tp_stats_nr_buckets(field);
	uint64_t longest = 0;

	for (unsigned int i = 0; i < nr; i++)
		longest = buckets[i] > longest ? buckets[i] : longest;
	for (unsigned int place = 0; place < nr; place++) {
		struct tp_buffer range = {.text = NULL};
		unsigned int i = tp_stats_bucket(nr, place);
		if (!buckets[i])
			continue;
		tp_stats_put_bucket(&range, field, i, " .. ");
		tp_buffer_printf(b, "  %*s", LABEL, range.failed ? "?" : range.text);
		put_bar(b, buckets[i], longest);
		tp_buffer_free(&range);
	}
}

static void put_integers(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_numbers *n)
{
	tp_buffer_printf(b, "count %llu, sum ", (number)n->count);
	tp_stats_put_sum(b, n);
	tp_buffer_printf(b, ", min ");
	tp_stats_put_integer(b, field, n->min);
	tp_buffer_printf(b, ", mean %.10g, max ", tp_stats_mean(n));
	tp_stats_put_integer(b, field, n->max);
	tp_buffer_printf(b, "\n");
	put_histogram(b, field, n->buckets);
}

static void put_floats(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_numbers *n)
{
	tp_buffer_printf(b, "count %llu", (number)n->count);
	if (n->count)
		tp_buffer_printf(b, ", sum %.10g, min %.10g, mean %.10g, max %.10g", n->sum, tp_stats_float_of(n->min),
				 n->sum / (double)n->count, tp_stats_float_of(n->max));
	if (n->nan || n->infinite || n->negative_infinite)
		tp_buffer_printf(b, "; nan %llu, infinite %llu, -infinite %llu", (number)n->nan, (number)n->infinite,
				 (number)n->negative_infinite);
	tp_buffer_printf(b, "\n");
	put_histogram(b, field, n->buckets);
}

/* How a value is called. */
static void name_value(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_value *value)
{
	char text[TP_STATS_TEXT_BYTES + 1];

	if (field->kind == TP_STATS_TEXT) {
		tp_stats_text_of(text, value->key);
		tp_buffer_printf(b, "\"");
		put_plain(b, text);
		tp_buffer_printf(b, "\"%s", value->key[0] > TP_STATS_TEXT_BYTES ? "..." : "");
	} else if (!tp_value_names_put(b, field->names, value->key[0])) {
		tp_buffer_printf(b, "0x%llx", (number)value->key[0]);
	}
}

static void put_values(struct tp_buffer *b, const struct tp_stats_field *field, const struct tp_stats_value *values,
		       size_t nr)
{
	struct tp_buffer *names = calloc(nr + 1, sizeof(*names));
	size_t width = LABEL;

	for (size_t i = 0; names && i < nr; i++) {
		name_value(&names[i], field, &values[i]);
		if (!names[i].failed && width_of(names[i].text) > width)
			width = width_of(names[i].text);
	}
	for (size_t i = 0; names && i < nr; i++) {
		const char *name = names[i].failed ? "?" : names[i].text;
		tp_buffer_printf(b, "  %*s%s", (int)(width - width_of(name)), "", name);
		put_bar(b, values[i].count, values[0].count);
		tp_buffer_free(&names[i]);
	}
	free(names);
}

static void put_top(struct tp_buffer *b, const struct tp_stats_field *field, uint64_t shown)
{
	struct tp_stats_values top;

	tp_stats_values_take(&top, field, shown);
	tp_buffer_printf(b, "count %llu, distinct %zu%s", (number)top.count, top.nr, top.other ? " or more" : "");
	if (top.rest)
		tp_buffer_printf(b, ", not shown %llu", (number)top.rest);
	if (top.other)
		tp_buffer_printf(b, ", other (there was no room to tell them apart) %llu", (number)top.other);
	tp_buffer_printf(b, "\n");
	if (top.shown)
		put_values(b, field, top.values, top.shown);
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
	tp_buffer_printf(b, "\n%s.%s: ", plan->name, field->name);
	if (tp_stats_has_numbers(field))
		put_numbers(b, field, plan->counters);
	else
		put_top(b, field, report->sink->options.top);
}

void tp_stats_text(struct tp_buffer *b, const struct tp_stats_report *report)
{
	struct tp_sink *head = &report->sink->head;
	char time[SHORT];

	put_plain(b, tp_program_name);
	tp_buffer_printf(b, ", process %d, at %s UTC, %.3f s after %s", (int)getpid(),
			 wall(time, report->now_ns, true), report->seconds,
			 report->sink->forked ? "its fork" : "the beginning");
	if (tp_sink_lost(head))
		tp_buffer_printf(b, "; lost: %lu", tp_sink_lost(head));
	tp_buffer_printf(b, report->final ? "; ended\n" : "\n");
	put_events(b, report);
	for (size_t i = 0; i < report->nr_events; i++) {
		const struct tp_stats_plan *plan = report->events[i].plan;
		for (uint32_t j = 0; j < plan->nr_fields; j++)
			put_field(b, report, plan, &plan->fields[j]);
	}
	if (report->sink->options.by_thread)
		put_threads(b, report);
}
