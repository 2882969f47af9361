/* SPDX-License-Identifier: MIT */
/*
 * list_sink.c - see list_sink.h.
 */
#include <errno.h>
#include <string.h>

#include "list_sink.h"

static void log_to(struct list_sink *s, const char *name)
{
	size_t len = strlen(s->log);

	snprintf(s->log + len, sizeof(s->log) - len, "%s ", name);
}

static bool list_reserve(struct tp_record *rec)
{
	rec->time = 0;
	rec->entry = ((struct list_sink *)rec->sink)->entry;
	return true;
}

static void list_commit(struct tp_record *rec)
{
	log_to((struct list_sink *)rec->sink, rec->event->name);
}

static int list_describe(struct tp_sink *sink, const struct tp_event *event)
{
	struct list_sink *s = (struct list_sink *)sink;

	if (!s->describe_error)
		log_to(s, event->name);
	return s->describe_error;
}

static int list_described(struct tp_sink *sink)
{
	struct list_sink *s = (struct list_sink *)sink;

	s->nr_described++;
	return s->described_error;
}

static int list_close(struct tp_sink *sink)
{
	((struct list_sink *)sink)->closed = true;
	return -EPIPE;
}

const struct tp_sink_ops list_ops = {
	.name = "list", .reserve = list_reserve, .commit = list_commit,
	.describe_event = list_describe, .write_descriptions = list_described, .close = list_close,
};

const struct tp_sink_ops plain_ops = {
	.name = "plain", .reserve = list_reserve, .commit = list_commit, .close = list_close,
};

void open_list_sink(struct list_sink *s)
{
	*s = (struct list_sink){.closed = false};
	ck_assert_int_eq(tp_sink_open(&s->head, &plain_ops), 0);
}

char *hit_all(struct list_sink *s)
{
	static const struct sample_point point;
	static const uint32_t word;
	static const struct sample_values values = {.text = "", .last = "", .bytes = &point.z, .words = &word, .points = &point};

	s->log[0] = '\0';
	trace_sample_int(1);
	trace_sample_text("x");
	trace_sample_kinds(&values);
	return s->log;
}
