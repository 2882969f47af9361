// SPDX-License-Identifier: MIT
/*
 * Runs a program's fire_all(), with two sinks beside that of the environment:
 * the text sink, and one that writes formats and records down as they are, for
 * read_events.c. random_events.py makes such programs, and kernel/firing.py.
 *
 *	TEXT RECORDS
 *
 * RECORDS: "F system size\n" and a format's text, or "R size\n" and a record's
 * bytes, or "S address size\n" and the text of a string that records may point
 * to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/event.h>
#include <tp/sink.h>
#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "record_events.h"

struct recorder {
	struct tp_sink sink; /* first: a sink is its recorder */
	FILE *file;
};

static FILE *strings; /* the recorder's file */

static bool recorder_reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	return rec->entry;
}

static void recorder_commit(struct tp_record *rec)
{
	FILE *file = ((struct recorder *)rec->sink)->file;

	fprintf(file, "R %u\n", rec->size);
	fwrite(rec->entry, 1, rec->size, file);
	tp_scratch_pop(rec->entry);
}

static int recorder_describe(struct tp_sink *sink, const struct tp_event *event)
{
	static char buffer[1 << 20];
	FILE *file = ((struct recorder *)sink)->file;
	struct trace_seq s;
	int error;

	trace_seq_init(&s, buffer, sizeof(buffer));
	error = tp_event_format(event, &s);
	if (error)
		return error;
	fprintf(file, "F %s %zu\n", event->system, s.len);
	fwrite(buffer, 1, s.len, file);
	return 0;
}

/* What the kernel's printk_formats file is: the strings that records point to. */
const char *fire_string(const char *text)
{
	fprintf(strings, "S %p %zu\n%s", (const void *)text, strlen(text), text);
	return text;
}

static int recorder_close(struct tp_sink *sink)
{
	return fclose(((struct recorder *)sink)->file);
}

static const struct tp_sink_ops recorder_ops = {
	.name = "recorder",
	.reserve = recorder_reserve,
	.commit = recorder_commit,
	.describe_event = recorder_describe,
	.close = recorder_close,
};

int main(int argc, char **argv)
{
	struct recorder recorder = {.file = argc == 3 ? fopen(argv[2], "w") : NULL};
	FILE *file = argc == 3 ? fopen(argv[1], "w") : NULL;
	struct tp_sink *text = tp_text_sink(file);

	if (!text || !recorder.file || tp_sink_open(&recorder.sink, &recorder_ops)) {
		perror("record_events");
		return 1;
	}
	if (tp_enable(text, "*") < 0 || tp_enable(&recorder.sink, "*") < 0)
		return 1;
	strings = recorder.file;
	fire_all();
	if (tp_sink_lost(text) || tp_sink_lost(&recorder.sink)) {
		fprintf(stderr, "records are lost\n");
		return 1;
	}
	return tp_sink_close(text) || tp_sink_close(&recorder.sink) || fclose(file);
}
