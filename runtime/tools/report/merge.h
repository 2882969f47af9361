/* SPDX-License-Identifier: MIT */
/* merge.h - the events of all streams of some traces in the order of their times. */
#ifndef MERGE_H
#define MERGE_H

#include "read/packet_reader.h"

struct stream;

/* How far the events of a stream have been given: for a later look at the same trace, which has grown meanwhile. */
struct merge_position {
	char *path; /* of the trace */
	uint64_t stream, sequence, begin;
	uint64_t offset, ticks, discarded;
};

struct merge_positions {
	struct merge_position *positions; /* zeros are none */
	size_t nr;
};

struct merge {
	struct stream *streams;
	struct stream **heap; /* those that have not ended, the one with the earliest time on top */
	size_t nr_streams, nr_heap;
	struct stream *given; /* the one whose event was given last, which has to go on */

	uint64_t since;       /* packets that end before it are not opened */
	uint64_t limit;       /* later events are not given; as if they were not there yet */
	uint64_t done, total; /* bytes of packets */
};

struct merged {
	const struct trace *trace;
	size_t trace_nr;
	struct event event; /* without a format where a stream has ended and lost has not been given yet */
	uint64_t lost;      /* events of its stream right before; or TRACE_LOST_UNKNOWN */
};

/* False, and a message, where it fails; to be freed in any case. The traces stay the caller's. from: NULL, or where to go on. */
bool merge_begin(struct merge *merge, const struct trace *traces, size_t nr, const struct merge_positions *from);
void merge_free(struct merge *merge);

/* In the place of those that there are. False, and a message: there is no memory. */
bool merge_save(const struct merge *merge, struct merge_positions *positions);
void merge_positions_free(struct merge_positions *positions);

/* The next event; what it points to is there until the one after it. PACKET_END behind the last one. */
enum packet_result merge_next(struct merge *merge, struct merged *merged);

/* The latest time that a packet has an event of. */
uint64_t merge_end(const struct merge *merge);

#endif /* MERGE_H */
