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
#include "export/track_event.h"

enum track_parent { PARENT_NONE, PARENT_PROCESS, PARENT_THREAD };

/* A track that is not a thread itself. */
struct track_wanted {
	enum track_parent parent;
	int32_t pid;            /* of the process, if that is the parent */
	uint64_t key, key_more; /* tell it from all others of its parent */
	const char *name;
	bool is_counter;
};

/* An event, as it is now known. */
struct known {
	struct track_event track;
	struct tp_event *described;
	bool is_told; /* the caller's */
	const struct scheduling *scheduling; /* NULL: it is none of those */
	struct span_role roles[]; /* of each span */
};

struct placed {
	enum track_event_type type;
	const struct track_wanted *track; /* NULL: the thread */
	struct tp_value_bytes name;       /* of a slice; at is NULL: the event's */
	uint64_t counter;
};

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
bool placing_each(struct placing *placing, const struct merged *merged,
		  bool (*fn)(void *data, const struct merged *merged, struct known *known, const struct placed *placed), void *data);

#endif /* PLACING_H */
