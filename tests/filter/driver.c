/* SPDX-License-Identifier: MIT */
/*
 * driver.c - filters on records, both from standard input, a line each:
 *
 *	format        the event's format text, and an empty line
 *	record HEX    another record
 *	filter TEXT   for each record "1" or "0"; or "error AT MESSAGE"
 *	hit TEXT      the same where events are hit with the record's values, or "?" if the two events differ
 *	tep TEXT      the same by libtraceevent
 *	verify TEXT   "0" where libtracefs takes it for a filter, else "error"; "none" without the library
 */
#define CREATE_TRACE_POINTS
#include "fields.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "filter/filter.h"
#include "others.h"

#include "../lines.h"
#include "../processors.h"

#define MAX_RECORDS 64

static struct record records[MAX_RECORDS];
static size_t nr_records;

static struct tp_event *const event = &tp_event_fields_all;
static char format[16384];

static void add_record(const char *hex)
{
	const size_t size = strlen(hex) / 2;
	char *bytes = malloc(size); /* of just this size: a sanitizer sees what reads beyond */

	for (size_t i = 0; i < size; i++) {
		unsigned int byte;
		sscanf(hex + 2 * i, "%2x", &byte);
		bytes[i] = (char)byte;
	}
	records[nr_records].bytes = bytes;
	records[nr_records++].size = size;
}

static void evaluate(const char *text)
{
	struct tp_filter_error error;
	struct tp_filter *filter = tp_filter_new(text, &error);
	struct tp_filter_program *program = filter ? tp_filter_compile(filter, event, &error) : NULL;

	tp_filter_free(filter);
	if (!program) {
		printf("error %zu %s\n", error.at, error.message);
		tp_filter_error_free(&error);
		return;
	}
	for (size_t i = 0; i < nr_records; i++)
		putchar(tp_filter_accepts(program, (const struct trace_entry *)(void *)records[i].bytes, records[i].size) ? '1' : '0');
	putchar('\n');
	tp_filter_program_free(program);
}

/* ---- Events that are hit ---- */

static char taken[2]; /* by event: whether the sink has got the record */

static bool reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	return rec->entry != NULL;
}

static void commit(struct tp_record *rec)
{
	taken[rec->event != event]++;
	tp_scratch_pop(rec->entry);
}

static char hit(const struct trace_event_raw_fields_all *r)
{
	const struct fields_numbers n = {r->s8, r->u8, r->s16, r->u16, r->s32, r->u32, r->s64, r->u64, r->method, r->mode, r->real, r->single};
	const char *text = (const char *)r + (r->__data_loc_text & 0xffff);
	static const unsigned long cpus[1024 / sizeof(long)];

	taken[0] = taken[1] = 0;
	trace_fields_all(&n, r->fixed, text, cpus);
	trace_fields_exact(n.s8, n.u8, n.s16, n.u16, n.s32, n.u32, n.s64, n.u64, n.method, n.mode, n.real, n.single, r->fixed, text,
			   cpus);
	return taken[0] != taken[1] || taken[0] > 1 ? '?' : (char)('0' + taken[0]);
}

static void hit_with(const char *text)
{
	static const struct tp_sink_ops ops = {.name = "counting", .reserve = reserve, .commit = commit};
	static struct tp_sink sink;

	if ((!sink.ops && tp_sink_open(&sink, &ops) != 0) || tp_enable_if(&sink, "fields:*", text, NULL) != 2) {
		printf("error\n");
		return;
	}
	for (size_t i = 0; i < nr_records; i++)
		putchar(hit((const struct trace_event_raw_fields_all *)(void *)records[i].bytes));
	putchar('\n');
}

static bool starts(char *line, const char *word, char **rest)
{
	*rest = line + strlen(word);
	return strncmp(line, word, strlen(word)) == 0;
}

static bool others;

static void obey(char *line)
{
	char *rest;

	if (starts(line, "format", &rest))
		printf("%s\n", format);
	else if (starts(line, "record ", &rest))
		add_record(rest);
	else if (starts(line, "filter ", &rest))
		evaluate(rest);
	else if (starts(line, "hit ", &rest))
		hit_with(rest);
	else if (!others)
		printf("none\n");
	else if (starts(line, "tep ", &rest))
		others_evaluate(rest, records, nr_records);
	else if (starts(line, "verify ", &rest))
		others_verify(rest);
}

int main(void)
{
	struct trace_seq seq;

	if (!setlocale(LC_ALL, ""))
		return 1;
	trace_seq_init(&seq, format, sizeof(format));
	tp_event_format(event, &seq);
	others = others_load(format);
	obey_lines(obey);
	return 0;
}
