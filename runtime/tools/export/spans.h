/* SPDX-License-Identifier: MIT */
/* spans.h - pairs of events that are one span of time: "BEGIN/END by FIELD", where begin and end have the same values, or one thread. */
#ifndef SPANS_H
#define SPANS_H

#include "options.h"
#include "read/traces.h"
#include "select/event_key.h"
#include "select/selection.h"

struct span_lanes {
	uint32_t *free; /* those that have been used, and are not */
	size_t nr_free, room, nr;
};

struct span {
	char *name; /* what both events' names begin with, as "pgz_block" of pgz_block_start; or the begin's */
	struct selection *events[2]; /* by enum key_side */
	struct key_names key[2];
	struct tp_pairs pairs; /* begins, whose data is their lane */
	struct span_lanes lanes; /* spans of the same lane do not overlap; of a thread, they nest, and have lane 0 */
};

struct spans {
	struct span *all;
	size_t nr;
};

/* What an event of a trace is in a span. */
struct span_role {
	bool is[2]; /* by enum key_side */
	struct key_fields key[2];
};

/* All of these say what is wrong where they return false. Zeros are no spans; to be freed in any case. */
bool spans_given(struct spans *spans, const struct tp_args *args, int option); /* each value of the option is one */
void spans_free(struct spans *spans);

/* Whether the traces have the events, and these the fields. */
bool spans_check(struct spans *spans, const struct traces *traces);

/* Of the events of a format: described is the same, and stays. */
bool span_role_of(struct span_role *role, const struct span *span, size_t trace_nr, const struct trace *trace,
		  const struct event_format *format, const struct tp_event *described);

/* Whether the event begins, or ends, a span, and in which lane. Look for an end first: an event may be both. */
bool span_ends(struct span *span, const struct span_role *role, size_t trace_nr, const struct trace *trace, const struct event *event,
	       uint32_t *lane);
bool span_begins(struct span *span, const struct span_role *role, size_t trace_nr, const struct trace *trace, const struct event *event,
		 uint32_t *lane);

#endif /* SPANS_H */
