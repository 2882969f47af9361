/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/track_event.h - an event as Perfetto's TrackEvent: its names, which a sequence of packets tells once, and a
 * record's fields. A plan has all that is needed of the event, whose module may go. For the tools, too.
 */
#ifndef TP_TRACK_EVENT_H
#define TP_TRACK_EVENT_H

#include <tp/event.h>

#include "filter/value.h"
#include "sinks/perfetto/proto.h"

enum tp_track_event_type { TP_TRACK_BEGIN = 1, TP_TRACK_END = 2, TP_TRACK_INSTANT = 3, TP_TRACK_EVENT_COUNTER = 4 };

/* Numbers for names: those of levels, as categories; those of events come after them. */
#define TP_LEVEL_IID(level) ((uint64_t)(level) + 1)
#define TP_FIRST_EVENT_IID 32u

/* A field of the event. */
struct tp_track_field {
	struct tp_event_field described; /* of which the texts are not here */
	struct tp_value place;
	struct tp_value element; /* a number, at its own address */
	uint8_t kind; /* enum tp_described_kind */
	bool is_list;
	struct tp_symbols *names; /* of a single number's values; NULL: none */
};

/* A field by which an event says what it is. */
struct tp_track_role {
	bool is_there;
	struct tp_value value;
};

/*
 * An event's own word for what it is, by the fields that the kernel's track events have: docs/outputs/perfetto.md. Without type and counter_value it is an instant of its thread.
 */
struct tp_track_roles {
	struct tp_track_role type, counter, slice_name, track_name, scope;
	char *scope_name; /* "tgid", "cpu", or any other; NULL: the thread is the scope */
};

struct tp_track_plan {
	struct tp_track_plan *next; /* its owner's */
	uint64_t iid; /* of its name, its category and its source; from iid + 1 on, two for each field */
	uint32_t nr_fields;
	enum tp_loglevel level;
	bool has_source;
	struct tp_track_roles roles;
	char *system, *name; /* for tracks of its own */
	struct tp_proto names; /* those that the numbers stand for: the field interned_data of a packet */
	size_t fixed;        /* bytes of the fields, whatever is in a record ... */
	uint32_t growth;     /* ... each byte of which becomes so many, at most */
	struct tp_track_field fields[];
};

/*
 * Of an event; file and line are where its declaration is: file may be NULL. iid is the first number that is free, and then the
 * one behind those of the plan. NULL: there is no memory.
 */
struct tp_track_plan *tp_track_plan_new(const struct tp_event *event, const char *file, int line, uint64_t *iid);
void tp_track_plan_free(struct tp_track_plan *plan);

/* Bytes that a TrackEvent of a record of so many bytes may take, with what tp_track_event_put() puts in front of the fields. */
size_t tp_track_event_size(const struct tp_track_plan *plan, size_t record_size);

/* ---- Where a record belongs ---- */

enum tp_track_parent { TP_PARENT_NONE, TP_PARENT_PROCESS, TP_PARENT_THREAD };

#define TP_TRACK_NAME_SIZE 256

/* A track that is no thread's own. */
struct tp_track {
	enum tp_track_parent parent;
	int32_t pid;            /* of the process, if that is the parent; 0: the record's own */
	uint64_t key, key_more; /* tell it from all others of its parent */
	bool is_counter;
	char name[TP_TRACK_NAME_SIZE];
};

/* A record, as what it is to be seen. */
struct tp_placed {
	enum tp_track_event_type type;
	struct tp_value_bytes name; /* of a slice; at is NULL: the event's */
	uint64_t counter;
};

/* False: it is an instant of its thread. Else track is filled in. */
bool tp_track_of_record(const struct tp_track_plan *plan, const void *record, size_t size, struct tp_placed *placed, struct tp_track *track);

/* The track's descriptor, as a field of a packet; without a parent where parent is 0. */
void tp_track_put_descriptor(struct tp_proto *proto, const struct tp_track *track, uint64_t uuid, uint64_t parent);

/* ---- The event ---- */

/*
 * The fields of a TrackEvent that come before those of the record: type, name, categories, source. track is 0 where the
 * sequence's default is meant.
 */
void tp_track_event_put_head(struct tp_proto *proto, const struct tp_track_plan *plan, const struct tp_placed *placed, uint64_t track);

/* The fields of the record, as debug annotations of a TrackEvent. One that has no room is left out. */
void tp_track_event_put_fields(struct tp_proto *proto, const struct tp_track_plan *plan, const void *record, size_t size);

/* A field that is none of the event's. */
void tp_track_event_put_count(struct tp_proto *proto, const char *name, uint64_t count);

/* A TrackEvent that says how many records were lost in front of it: a field of a packet. */
void tp_track_event_put_lost(struct tp_proto *proto, uint64_t track, bool is_known, uint64_t lost);

#endif /* TP_TRACK_EVENT_H */
