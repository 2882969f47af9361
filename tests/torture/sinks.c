/* SPDX-License-Identifier: MIT */
/* sinks.c - events switched on and off, into a sink that counts and into text that nobody reads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/sink.h>
#include <tp/tp.h>

#include "points.h"
#include "torture.h"

struct counting_sink {
	struct tp_sink head;
	unsigned long token;
	unsigned long own; /* records of the token's hits; its thread's own */
	unsigned long reserved, committed;
	bool closed;
};

static bool counting_reserve(struct tp_record *rec)
{
	struct counting_sink *sink = (struct counting_sink *)rec->sink;
	void *memory = tp_scratch_push(rec->size);

	CHECK(!__atomic_load_n(&sink->closed, __ATOMIC_RELAXED), "a record came after its sink was closed");
	if (rec->event->name[0] == 'v' && !in_signal && rnd(16) == 0)
		nap(200); /* in a record writer of a module that may be about to go */
	if (!memory) {
		tp_sink_count_lost(rec->sink, TP_LOST_OTHER);
		return false;
	}
	__atomic_fetch_add(&sink->reserved, 1, __ATOMIC_RELAXED);
	rec->time = 0;
	rec->entry = memory;
	return true;
}

static enum point point_of(const struct tp_event *event)
{
#define X(tp)                                \
	if (strcmp(event->name, #tp) == 0) \
		return POINT_##tp;
	OWN_POINTS(X)
	VISITOR_POINTS(X)
#undef X
	die("a record of event '%s'", event->name);
}

static void counting_commit(struct tp_record *rec)
{
	struct counting_sink *sink = (struct counting_sink *)rec->sink;
	/* The visitors' records are alike. */
	const struct trace_event_raw_torture_class *entry = (const void *)rec->entry;

	CHECK(entry->check == checksum(point_of(rec->event), entry->a, entry->b), "a wrong record of %s: %lx %lx %lx",
	      rec->event->name, entry->a, entry->b, entry->check);
	if (entry->a == sink->token)
		sink->own++;
	count(COUNT_records);
	__atomic_fetch_add(&sink->committed, 1, __ATOMIC_RELAXED);
	tp_scratch_pop(rec->entry);
}

static int counting_close(struct tp_sink *head)
{
	struct counting_sink *sink = (struct counting_sink *)head;

	CHECK(sink->reserved == sink->committed, "%lu records were reserved, %lu committed", sink->reserved,
	      sink->committed);
	sink->closed = true;
	return 0;
}

static const struct tp_sink_ops counting = {
	.name = "counting",
	.reserve = counting_reserve,
	.commit = counting_commit,
	.close = counting_close,
};

/* torture_fn's regfunc may refuse a writer, and then it stays off. */
#define EXACT "torture:torture_plain,torture_cond,torture_malloc"

static void hit_and_expect(struct counting_sink *sink, bool on)
{
	static const enum point exact[] = {POINT_torture_plain, POINT_torture_cond, POINT_torture_malloc};
	unsigned long expected = sink->own;

	for (int i = 0; i < 10; i++) {
		enum point point = exact[rnd(3)];
		unsigned long b = rnd(~0ul);
		hit(point, sink->token, b);
		expected += on && passes(point, b);
	}
	unsigned long lost = tp_sink_lost(&sink->head);
	CHECK(sink->own <= expected && sink->own + lost >= expected, "%lu records of %lu own hits, %lu lost, while %s",
	      sink->own, expected, lost, on ? "on" : "off");
}

static void count_records(void)
{
	struct counting_sink sink = {.token = new_token()};

	at("tp_sink_open");
	CHECK(tp_sink_open(&sink.head, &counting) == 0, "tp_sink_open");
	for (unsigned long i = 1 + rnd(3); i; i--) {
		at("tp_enable");
		int switched = tp_enable(&sink.head, rnd(2) ? EXACT : "visitor_*, " EXACT);
		CHECK(switched >= 3, "tp_enable switched %d", switched);
		hit_and_expect(&sink, true);
		at("tp_disable");
		if (rnd(2)) {
			switched = tp_disable(&sink.head, "*");
			CHECK(switched >= 3, "tp_disable switched %d", switched);
			hit_and_expect(&sink, false);
		} else if (i > 1) {
			tp_disable(&sink.head, "*");
		}
		count(COUNT_switched);
	}
	at("tp_sink_close");
	CHECK(tp_sink_close(&sink.head) == 0, "tp_sink_close");
	sink = (struct counting_sink){.closed = true};
	__asm__ volatile("" : : "r"(&sink) : "memory");
}

static void write_text(void)
{
	FILE *file = fopen("/dev/null", "we");
	char buffer[BUFSIZ];

	CHECK(file, "/dev/null");
	/* Or stdio allocates one where the first line is written, which may be in a signal handler. */
	setvbuf(file, buffer, _IOFBF, sizeof(buffer));
	at("tp_text_sink");
	struct tp_sink *sink = tp_text_sink(file);
	CHECK(sink, "tp_text_sink");
	at("tp_enable");
	CHECK(tp_enable(sink, "*,!torture_fn") >= 0, "tp_enable");
	for (int i = 0; i < 10; i++)
		hit_any(PLAIN_HIT);
	if (rnd(2)) {
		at("tp_disable");
		CHECK(tp_disable(sink, "torture_plain") == 1, "tp_disable");
		hit_any(PLAIN_HIT);
	}
	at("tp_sink_close");
	CHECK(tp_sink_close(sink) == 0, "tp_sink_close");
	fclose(file);
	count(COUNT_switched);
}

void switcher(void)
{
	if (!opt_text || rnd(2))
		count_records();
	else
		write_text();
}
