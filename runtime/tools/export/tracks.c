/* SPDX-License-Identifier: MIT */
#include "export/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"
#include "sinks/perfetto/fields.h"

/* A track's number: its index, and of which of the three kinds it is. */
enum { NUMBER_PROCESS = 1, NUMBER_THREAD = 2, NUMBER_OTHER = 3 };

static uint64_t number(uint64_t kind, size_t index)
{
	return kind << 60 | (index + 1);
}

void tracks_free(struct tracks *tracks)
{
	keys_free(&tracks->processes);
	keys_free(&tracks->threads);
	keys_free(&tracks->others);
	keys_free(&tracks->named);
	free(tracks->thread_names);
}

static void put_process_name(struct tp_proto *proto, const struct metadata *metadata, const char *of_thread)
{
	char program[512];
	const size_t len = metadata_origin(metadata, "program", program, sizeof(program));

	if (len)
		tp_proto_text(proto, TP_PROCESS_COMMAND_LINE, program, len);
	tp_proto_text(proto, TP_PROCESS_NAME, of_thread ? of_thread : metadata->process, COMM_SIZE);
}

static bool describe_process(struct packets *packets, const struct metadata *metadata, size_t trace_nr, const struct event *event, int32_t pid,
			     uint64_t uuid)
{
	struct tp_proto *proto = &packets->proto;
	const bool of_kernel = metadata->is_kernel;

	packet_open(packets, trace_nr, event->time);
	const size_t descriptor = tp_proto_begin(proto, TP_PACKET_TRACK_DESCRIPTOR);
	tp_proto_number(proto, TP_TRACK_UUID, uuid);
	const size_t process = tp_proto_begin(proto, TP_TRACK_PROCESS);
	tp_proto_number(proto, TP_PROCESS_PID, (uint64_t)pid);
	if (!of_kernel || event->tid == pid)
		put_process_name(proto, metadata, of_kernel ? event->name : NULL);
	tp_proto_end(proto, process);
	tp_proto_end(proto, descriptor);
	return packet_close(packets);
}

static uint64_t process_of(struct tracks *tracks, struct packets *packets, size_t trace_nr, const struct event *event, int32_t pid)
{
	const struct metadata *metadata = &tracks->traces->traces[trace_nr].metadata;
	const uint32_t machine = packets->machines[trace_nr];
	bool is_new, is_named_now = false;
	size_t index, ignored;

	if (!key_index(&tracks->processes, machine, (uint32_t)pid, &index, &is_new) ||
	    (!metadata->is_kernel && !key_index(&tracks->named, machine, (uint32_t)pid, &ignored, &is_named_now)))
		return 0;
	const uint64_t uuid = number(NUMBER_PROCESS, index);
	return (!is_new && !is_named_now) || describe_process(packets, metadata, trace_nr, event, pid, uuid) ? uuid : 0;
}

static bool has_room(struct tracks *tracks, size_t index)
{
	if (index < tracks->room)
		return true;
	const size_t room = 2 * index + 64;
	char(*more)[COMM_SIZE] = reallocarray(tracks->thread_names, room, sizeof(*more));
	if (!more)
		return fail_no_memory();
	tracks->thread_names = more;
	tracks->room = room;
	return true;
}

static bool describe_thread(struct packets *packets, size_t trace_nr, const struct event *event, uint64_t uuid)
{
	struct tp_proto *proto = &packets->proto;

	packet_open(packets, trace_nr, event->time);
	const size_t descriptor = tp_proto_begin(proto, TP_PACKET_TRACK_DESCRIPTOR);
	tp_proto_number(proto, TP_TRACK_UUID, uuid);
	const size_t thread = tp_proto_begin(proto, TP_TRACK_THREAD);
	tp_proto_number(proto, TP_THREAD_PID, (uint64_t)event->pid);
	tp_proto_number(proto, TP_THREAD_TID, (uint64_t)event->tid);
	tp_proto_text(proto, TP_THREAD_NAME, event->name, COMM_SIZE);
	tp_proto_end(proto, thread);
	tp_proto_end(proto, descriptor);
	return packet_close(packets);
}

uint64_t tracks_of_thread(struct tracks *tracks, struct packets *packets, size_t trace_nr, const struct event *event)
{
	size_t index;
	bool is_new;

	if (!key_index(&tracks->threads, (uint64_t)packets->machines[trace_nr] << 32 | (uint32_t)event->pid, (uint32_t)event->tid, &index, &is_new) ||
	    !has_room(tracks, index))
		return 0;
	const uint64_t uuid = number(NUMBER_THREAD, index);
	char *name = tracks->thread_names[index];
	const bool is_named = tracks->traces->traces[trace_nr].metadata.name_offset != 0; /* else the name is the process's */
	if (!is_new && (!is_named || !event->tid || strncmp(name, event->name, COMM_SIZE) == 0)) /* 0: idle threads, one for each processor */
		return process_of(tracks, packets, trace_nr, event, event->pid) ? uuid : 0;
	memcpy(name, event->name, COMM_SIZE); /* a thread may get another name later */
	return process_of(tracks, packets, trace_nr, event, event->pid) && describe_thread(packets, trace_nr, event, uuid) ? uuid : 0;
}

uint64_t tracks_other(struct tracks *tracks, struct packets *packets, size_t trace_nr, const struct event *event, const struct tp_track *track)
{
	const uint64_t parent = track->parent == TP_PARENT_THREAD    ? tracks_of_thread(tracks, packets, trace_nr, event)
				: track->parent == TP_PARENT_PROCESS ? process_of(tracks, packets, trace_nr, event, track->pid)
								     : packets->machines[trace_nr];
	size_t index;
	bool is_new;

	if (!parent || !key_index(&tracks->others, track->key ^ parent * 0x9e3779b97f4a7c15u, track->key_more, &index, &is_new))
		return 0;
	if (!is_new)
		return number(NUMBER_OTHER, index);
	packet_open(packets, trace_nr, event->time);
	tp_track_put_descriptor(&packets->proto, track, number(NUMBER_OTHER, index), track->parent == TP_PARENT_NONE ? 0 : parent);
	return packet_close(packets) ? number(NUMBER_OTHER, index) : 0;
}
