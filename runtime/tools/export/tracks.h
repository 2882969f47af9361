/* SPDX-License-Identifier: MIT */
/*
 * tracks.h - the tracks of a Perfetto trace: a process, a thread, and what belongs to one of them. A track is described in front of
 * its first event: protos/perfetto/trace/track_event/track_descriptor.proto.
 */
#ifndef TRACKS_H
#define TRACKS_H

#include "export/packets.h"
#include "read/packet_reader.h"
#include "read/traces.h"
#include "report/counts.h"
#include "sinks/perfetto/track_event.h"

struct tracks {
	const struct traces *traces;
	struct keys processes, threads, others;
	struct keys named; /* processes that a trace of their own has named: the kernel's knows threads only */
	char (*thread_names)[COMM_SIZE]; /* as they were described */
	size_t room;
};

void tracks_free(struct tracks *tracks);

/* The number of the track of the event's thread, or of another one; 0, and a message: there is no memory, or the file can't be written. */
uint64_t tracks_of_thread(struct tracks *tracks, struct packets *packets, size_t trace_nr, const struct event *event);
uint64_t tracks_other(struct tracks *tracks, struct packets *packets, size_t trace_nr, const struct event *event, const struct tp_track *track);

#endif /* TRACKS_H */
