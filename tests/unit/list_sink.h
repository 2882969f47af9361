/* SPDX-License-Identifier: MIT */
/*
 * list_sink.h - a sink that writes down the names of the events that it is told of.
 */
#ifndef LIST_SINK_H
#define LIST_SINK_H

#include <tp/tp.h>

#include "sample.h"
#include "util.h"

struct list_sink {
	struct tp_sink head;
	char log[512];
	struct trace_entry entry[16];
	int describe_error, described_error;
	unsigned int nr_described;
	bool closed;
};

/* Notes what is described, and what is recorded; or the latter only. Closing either returns -EPIPE. */
extern const struct tp_sink_ops list_ops, plain_ops;

/* With plain_ops. */
void open_list_sink(struct list_sink *s);

/* What the sink records of one hit of each sample. */
char *hit_all(struct list_sink *s);

#define ck_assert_hits(s, expected) ck_assert_pstr_eq(hit_all(s), (expected))

#endif /* LIST_SINK_H */
