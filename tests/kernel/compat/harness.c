// SPDX-License-Identifier: MIT
/*
 * Fires every event of the carried-over headers, with two sinks on all of
 * them: the text sink, and one that writes descriptions and records down as
 * they are, for reader.c.
 *
 *	harness TEXT RECORDS
 *
 * RECORDS: "F system size\n" and a format file's text, or "R size\n" and a
 * record's bytes, or "S address size\n" and the text of a string that records
 * may point to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/event.h>
#include <tp/sink.h>
#include <tp/tp.h>
#include <tp/trace_seq.h>

#include "compat.h"
#include "fire.h"

struct recorder {
	struct tp_sink sink;
	FILE *file;
};

static FILE *strings; /* the recorder's file */

static struct recorder *recorder_of(struct tp_sink *sink)
{
	return (struct recorder *)(void *)((char *)sink - offsetof(struct recorder, sink));
}

static bool recorder_reserve(struct tp_record *rec)
{
	rec->entry = tp_scratch_push(rec->size);
	return rec->entry;
}

static void recorder_commit(struct tp_record *rec)
{
	FILE *file = recorder_of(rec->sink)->file;

	fprintf(file, "R %u\n", rec->size);
	fwrite(rec->entry, 1, rec->size, file);
	tp_scratch_pop(rec->entry);
}

static int recorder_describe(struct tp_sink *sink, const struct tp_event *event)
{
	static char buffer[1 << 20];
	FILE *file = recorder_of(sink)->file;
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
	return fclose(recorder_of(sink)->file);
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
		perror("harness");
		return 1;
	}
	if (tp_enable(text, "*") < 0 || tp_enable(&recorder.sink, "*") < 0)
		return 1;
	strings = recorder.file;
	compat_with_format(fire_all, "a %s of %d", "text", 42);
	if (tp_sink_lost(text) || tp_sink_lost(&recorder.sink))
		return 1;
	return tp_sink_close(text) || tp_sink_close(&recorder.sink) || fclose(file);
}
