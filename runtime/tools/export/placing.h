/* SPDX-License-Identifier: MIT */
/*
 * placing.h - on which track of a picture an event is, and as what. It is an instant of its thread, unless
 *
 *	it is one of a pair      a slice begins or ends: in a lane of the process, or in the thread; spans.h
 *	it has track_event_type  the same, as the kernel's track events have it
 *	it has counter_value     a value of a counter
 */
#ifndef PLACING_H
#define PLACING_H

#include "export/export.h"
#include "export/scheduling.h"
#include "export/spans.h"
#include "sinks/perfetto/track_event.h"

/* An event, as it is now known. */
struct known {
	struct tp_track_plan *plan;
	struct tp_event *described;
	bool is_told; /* the caller's */
	const struct scheduling *scheduling; /* NULL: it is none of those */
	struct span_role roles[]; /* of each span */
};

/* Of an event that is on a track other than its thread's: which; else NULL. */
typedef bool place_fn(void *data, const struct merged *merged, struct known *known, const struct tp_placed *placed, const struct tp_track *track);

struct placing {
	struct spans *spans;
	struct known **known; /* of each trace, by id */
	size_t nr_traces;
	uint64_t next_iid;
};

/* False, and a message: the spans do not fit the traces, or there is no memory. Zeros are none; to be freed in any case. */
bool placing_init(struct placing *placing, struct spans *spans, const struct traces *traces);
void placing_free(struct placing *placing);

/* Calls fn for each place of the event, of which a pair's end and begin may be two. False: fn has returned it, or there is no memory, and a message. */
bool placing_each(struct placing *placing, const struct merged *merged, place_fn *fn, void *data);

#endif /* PLACING_H */
