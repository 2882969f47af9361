/* SPDX-License-Identifier: MIT */
#include "export/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "fail_msg.h"

enum {
	TRACK_DESCRIPTOR = 60, UUID = 1, NAME = 2, PROCESS = 3, THREAD = 4, PARENT_UUID = 5, COUNTER = 8,
	PROCESS_PID = 1, PROCESS_COMMAND_LINE = 2, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5,
};

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

static void put_process_name(struct proto *proto, const struct metadata *metadata, const char *of_thread)
{
	char program[512];
	const size_t len = metadata_origin(metadata, "program", program, sizeof(program));

	if (len)
		proto_text(proto, PROCESS_COMMAND_LINE, program, len);
	proto_text(proto, PROCESS_NAME, of_thread ? of_thread : metadata->process, COMM_SIZE);
}

static bool describe_process(struct packets *packets, const struct metadata *metadata, size_t trace_nr, const struct event *event, int32_t pid,
			     uint64_t uuid)
{
	struct proto *proto = &packets->proto;
	const bool of_kernel = metadata->is_kernel;

	packet_open(packets, trace_nr, event->time);
	const size_t descriptor = proto_begin(proto, TRACK_DESCRIPTOR);
	proto_number(proto, UUID, uuid);
	const size_t process = proto_begin(proto, PROCESS);
	proto_number(proto, PROCESS_PID, (uint64_t)pid);
	if (!of_kernel || event->tid == pid)
		put_process_name(proto, metadata, of_kernel ? event->name : NULL);
	proto_end(proto, process);
	proto_end(proto, descriptor);
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
	struct proto *proto = &packets->proto;

	packet_open(packets, trace_nr, event->time);
	const size_t descriptor = proto_begin(proto, TRACK_DESCRIPTOR);
	proto_number(proto, UUID, uuid);
	const size_t thread = proto_begin(proto, THREAD);
	proto_number(proto, THREAD_PID, (uint64_t)event->pid);
	proto_number(proto, THREAD_TID, (uint64_t)event->tid);
	proto_text(proto, THREAD_NAME, event->name, COMM_SIZE);
	proto_end(proto, thread);
	proto_end(proto, descriptor);
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
	if (!is_new && (!is_named || strncmp(name, event->name, COMM_SIZE) == 0))
		return process_of(tracks, packets, trace_nr, event, event->pid) ? uuid : 0;
	memcpy(name, event->name, COMM_SIZE); /* a thread may get another name later */
	return process_of(tracks, packets, trace_nr, event, event->pid) && describe_thread(packets, trace_nr, event, uuid) ? uuid : 0;
}

uint64_t tracks_other(struct tracks *tracks, struct packets *packets, size_t trace_nr, const struct event *event,
		      const struct track_wanted *wanted)
{
	const uint64_t parent = wanted->parent == PARENT_THREAD    ? tracks_of_thread(tracks, packets, trace_nr, event)
				: wanted->parent == PARENT_PROCESS ? process_of(tracks, packets, trace_nr, event, wanted->pid)
								   : packets->machines[trace_nr];
	struct proto *proto = &packets->proto;
	size_t index;
	bool is_new;

	if (!parent || !key_index(&tracks->others, wanted->key ^ parent * 0x9e3779b97f4a7c15u, wanted->key_more, &index, &is_new))
		return 0;
	if (!is_new)
		return number(NUMBER_OTHER, index);
	packet_open(packets, trace_nr, event->time);
	const size_t descriptor = proto_begin(proto, TRACK_DESCRIPTOR);
	proto_number(proto, UUID, number(NUMBER_OTHER, index));
	proto_text(proto, NAME, wanted->name, strlen(wanted->name));
	if (wanted->parent != PARENT_NONE)
		proto_number(proto, PARENT_UUID, parent);
	if (wanted->is_counter)
		proto_end(proto, proto_begin(proto, COUNTER));
	proto_end(proto, descriptor);
	return packet_close(packets) ? number(NUMBER_OTHER, index) : 0;
}
