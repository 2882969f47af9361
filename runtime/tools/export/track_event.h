/* SPDX-License-Identifier: MIT */
/*
 * track_event.h - an event of a trace as Perfetto's TrackEvent. Fields and their numbers:
 * https://github.com/google/perfetto, protos/perfetto/trace/track_event/track_event.proto and debug_annotation.proto.
 */
#ifndef TRACK_EVENT_H
#define TRACK_EVENT_H

#include <tp/event.h>

#include "export/proto.h"
#include "read/packet_reader.h"
#include "select/record_field.h"

enum track_event_type { TRACK_BEGIN = 1, TRACK_END = 2, TRACK_INSTANT = 3, TRACK_COUNTER = 4 };

/* An event's own word for what it is: the fields that the kernel's track events have, tp help convert. */
struct track_roles {
	bool is_track, is_counter, has_slice_name, has_track_name;
	struct record_field type, counter, slice_name, track_name, scope;
	const char *scope_name; /* "tgid", "cpu", or any other; NULL: the thread is the scope */
};

/* How an event of a trace is written. */
struct track_event {
	const struct tp_event *described; /* the texts here are pieces of it */
	uint64_t iid; /* of its name and its category, and, from iid on, of its fields */
	struct track_roles roles;
};

/* Of an event as select/description.h describes it. */
void track_event_init(struct track_event *track, const struct tp_event *described, uint64_t iid);

/* How many numbers from iid on are taken. */
uint64_t track_event_iids(const struct track_event *track);

/* The names that the numbers stand for, as the field interned_data of a packet. */
void track_event_put_names(struct proto *proto, const struct track_event *track);

/* The fields of the record, as debug annotations of a TrackEvent. */
void track_event_put_fields(struct proto *proto, const struct track_event *track, const struct event *event);

#endif /* TRACK_EVENT_H */
