/* SPDX-License-Identifier: MIT */
#include "export/packets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/machines.h"
#include "fail_msg.h"

/* Room for the longest record as annotations: an element of one byte takes ten. */
#define PACKET_BYTES ((size_t)2 << 20)

enum {
	TRACE_PACKET = 1, TIMESTAMP = 8, SEQUENCE_ID = 10, SEQUENCE_FLAGS = 13, TIMESTAMP_CLOCK = 58, MACHINE_ID = 98,
	CLOCK_SNAPSHOT = 6, CLOCKS = 1, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2, PRIMARY_CLOCK = 2,
	STATE_CLEARED = 1, NEEDS_STATE = 2, REALTIME = 1, BOOTTIME = 6,
	SYSTEM_INFO = 45, SYSTEM_NAME = 1, KERNEL_NAME = 1, KERNEL_RELEASE = 3,
};

bool packets_init(struct packets *packets, const struct traces *traces)
{
	packets->proto = (struct proto){.bytes = malloc(PACKET_BYTES), .size = PACKET_BYTES};
	packets->has_begun = calloc(traces->nr + 1, sizeof(*packets->has_begun));
	if (!packets->proto.bytes || !packets->has_begun)
		return fail_no_memory();
	packets->traces = traces;
	packets->machines = machines_of(traces);
	return packets->machines != NULL;
}

void packets_free(struct packets *packets)
{
	free(packets->proto.bytes);
	free(packets->machines);
	free(packets->has_begun);
}

static void open_with(struct packets *packets, size_t trace_nr, uint64_t time, uint64_t flags)
{
	struct proto *proto = &packets->proto;
	const uint32_t machine = packets->machines[trace_nr];

	proto->len = 0;
	proto->is_full = false;
	packets->begin = proto_begin(proto, TRACE_PACKET);
	proto_number(proto, TIMESTAMP, time);
	proto_number(proto, TIMESTAMP_CLOCK, REALTIME);
	proto_number(proto, SEQUENCE_ID, machine);
	proto_number(proto, SEQUENCE_FLAGS, flags);
	if (machine > 1) /* the first is the one that a viewer takes for granted */
		proto_number(proto, MACHINE_ID, machine);
}

void packet_open(struct packets *packets, size_t trace_nr, uint64_t time)
{
	open_with(packets, trace_nr, time, NEEDS_STATE);
}

bool packet_close(struct packets *packets)
{
	struct proto *proto = &packets->proto;

	proto_end(proto, packets->begin);
	return fwrite(proto->bytes, 1, proto->len, packets->file) == proto->len ||
	       fail_msg("'%s' can't be written: %s", packets->path, strerror(errno));
}

/* ---- The beginning of a machine's sequence ---- */

/* That of the machine; NULL: its events are in no trace. */
static const struct trace *kernel_of(const struct packets *packets, uint32_t machine)
{
	for (size_t t = 0; t < packets->traces->nr; t++) {
		if (packets->machines[t] == machine && packets->traces->traces[t].metadata.is_kernel)
			return &packets->traces->traces[t];
	}
	return NULL;
}

static void put_clock(struct proto *proto, uint64_t id, uint64_t time)
{
	const size_t clock = proto_begin(proto, CLOCKS);

	proto_number(proto, CLOCK_ID, id);
	proto_number(proto, CLOCK_TIMESTAMP, time);
	proto_end(proto, clock);
}

/* By the release, readers know what a thread's state means. */
static bool put_system(struct packets *packets, size_t trace_nr, uint64_t time, const struct trace *kernel)
{
	struct proto *proto = &packets->proto;
	char release[80];

	metadata_origin(&kernel->metadata, "kernel_release", release, sizeof(release));
	open_with(packets, trace_nr, time, NEEDS_STATE);
	const size_t info = proto_begin(proto, SYSTEM_INFO);
	const size_t name = proto_begin(proto, SYSTEM_NAME);
	proto_text(proto, KERNEL_NAME, "Linux", strlen("Linux"));
	proto_text(proto, KERNEL_RELEASE, release, strlen(release));
	proto_end(proto, name);
	proto_end(proto, info);
	return packet_close(packets);
}

bool packets_begin(struct packets *packets, size_t trace_nr, uint64_t time)
{
	const uint32_t machine = packets->machines[trace_nr];
	const struct trace *kernel = packets->has_begun[machine - 1] ? NULL : kernel_of(packets, machine);
	struct proto *proto = &packets->proto;

	if (packets->has_begun[machine - 1])
		return true;
	packets->has_begun[machine - 1] = true;
	open_with(packets, trace_nr, time, STATE_CLEARED);
	const size_t snapshot = proto_begin(proto, CLOCK_SNAPSHOT);
	put_clock(proto, REALTIME, time);
	if (kernel)
		put_clock(proto, BOOTTIME, time - kernel->metadata.boot_ns);
	proto_number(proto, PRIMARY_CLOCK, REALTIME);
	proto_end(proto, snapshot);
	return packet_close(packets) && (!kernel || put_system(packets, trace_nr, time, kernel));
}
