/* SPDX-License-Identifier: MIT */
/*
 * sinks/perfetto/fields.h - the numbers of fields that Perfetto's messages have, as far as they are written here:
 * https://github.com/google/perfetto, protos/perfetto/trace. For the tools, too.
 */
#ifndef TP_PERFETTO_FIELDS_H
#define TP_PERFETTO_FIELDS_H

/* trace.proto. Readers skip a field that Trace does not have: whatever is in such a one is no part of the trace. */
enum { TP_TRACE_PACKET = 1, TP_TRACE_PADDING = 15 };

/* trace_packet.proto, and the flags of a sequence. */
enum {
	TP_PACKET_CLOCK_SNAPSHOT = 6, TP_PACKET_TIMESTAMP = 8, TP_PACKET_SEQUENCE_ID = 10, TP_PACKET_TRACK_EVENT = 11,
	TP_PACKET_INTERNED_DATA = 12, TP_PACKET_SEQUENCE_FLAGS = 13, TP_PACKET_TIMESTAMP_CLOCK = 58, TP_PACKET_DEFAULTS = 59,
	TP_PACKET_TRACK_DESCRIPTOR = 60, TP_PACKET_MACHINE_ID = 98,
};
enum { TP_SEQUENCE_STATE_CLEARED = 1, TP_SEQUENCE_NEEDS_STATE = 2 };

/* trace_packet_defaults.proto */
enum { TP_DEFAULTS_TRACK_EVENT = 11, TP_DEFAULTS_TIMESTAMP_CLOCK = 58, TP_DEFAULTS_TRACK_UUID = 11 };

/* clock_snapshot.proto, and the numbers of clocks in builtin_clock.proto. */
enum { TP_SNAPSHOT_CLOCKS = 1, TP_SNAPSHOT_PRIMARY = 2, TP_CLOCK_ID = 1, TP_CLOCK_TIMESTAMP = 2 };
enum { TP_BUILTIN_REALTIME = 1, TP_BUILTIN_MONOTONIC = 3, TP_BUILTIN_BOOTTIME = 6 };

/* track_event/track_descriptor.proto, process_descriptor.proto, thread_descriptor.proto */
enum {
	TP_TRACK_UUID = 1, TP_TRACK_NAME = 2, TP_TRACK_PROCESS = 3, TP_TRACK_THREAD = 4, TP_TRACK_PARENT_UUID = 5, TP_TRACK_COUNTER = 8,
	TP_PROCESS_PID = 1, TP_PROCESS_COMMAND_LINE = 2, TP_PROCESS_NAME = 6,
	TP_THREAD_PID = 1, TP_THREAD_TID = 2, TP_THREAD_NAME = 5,
};

/* track_event/track_event.proto */
enum {
	TP_EVENT_CATEGORY_IIDS = 3, TP_EVENT_ANNOTATIONS = 4, TP_EVENT_TYPE = 9, TP_EVENT_NAME_IID = 10, TP_EVENT_TRACK_UUID = 11,
	TP_EVENT_CATEGORIES = 22, TP_EVENT_NAME = 23, TP_EVENT_COUNTER_VALUE = 30, TP_EVENT_SOURCE_IID = 34,
};

/* track_event/debug_annotation.proto */
enum {
	TP_ANNOTATION_NAME_IID = 1, TP_ANNOTATION_UINT = 3, TP_ANNOTATION_INT = 4, TP_ANNOTATION_DOUBLE = 5, TP_ANNOTATION_STRING = 6,
	TP_ANNOTATION_POINTER = 7, TP_ANNOTATION_NAME = 10, TP_ANNOTATION_ARRAY = 12,
};

/* interned_data/interned_data.proto, track_event/source_location.proto */
enum {
	TP_INTERNED_CATEGORIES = 1, TP_INTERNED_NAMES = 2, TP_INTERNED_ANNOTATIONS = 3, TP_INTERNED_SOURCES = 4,
	TP_INTERNED_IID = 1, TP_INTERNED_NAME = 2, TP_SOURCE_FILE = 2, TP_SOURCE_LINE = 4,
};

#endif /* TP_PERFETTO_FIELDS_H */
