/* SPDX-License-Identifier: MIT */
#include "export/packets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/machines.h"
#include "fail_msg.h"
#include "sinks/perfetto/fields.h"

/* Room for the longest record as annotations: an element of one byte takes ten. */
#define PACKET_BYTES ((size_t)2 << 20)

enum { SYSTEM_INFO = 45, SYSTEM_NAME = 1, KERNEL_NAME = 1, KERNEL_RELEASE = 3 };

bool packets_init(struct packets *packets, const struct traces *traces)
{
	packets->proto = (struct tp_proto){.bytes = malloc(PACKET_BYTES), .size = PACKET_BYTES};
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
	struct tp_proto *proto = &packets->proto;
	const uint32_t machine = packets->machines[trace_nr];

	proto->len = 0;
	proto->is_full = false;
	packets->begin = tp_proto_begin(proto, TP_TRACE_PACKET);
	tp_proto_number(proto, TP_PACKET_TIMESTAMP, time);
	tp_proto_number(proto, TP_PACKET_TIMESTAMP_CLOCK, TP_BUILTIN_REALTIME);
	tp_proto_number(proto, TP_PACKET_SEQUENCE_ID, machine);
	tp_proto_number(proto, TP_PACKET_SEQUENCE_FLAGS, flags);
	if (machine > 1) /* the first is the one that a viewer takes for granted */
		tp_proto_number(proto, TP_PACKET_MACHINE_ID, machine);
}

void packet_open(struct packets *packets, size_t trace_nr, uint64_t time)
{
	open_with(packets, trace_nr, time, TP_SEQUENCE_NEEDS_STATE);
}

bool packet_close(struct packets *packets)
{
	struct tp_proto *proto = &packets->proto;

	if (proto->is_full)
		return fail_msg("'%s' can't be written: the names of an event's fields are longer than a packet can be", packets->path);
	tp_proto_end(proto, packets->begin);
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

static void put_clock(struct tp_proto *proto, uint64_t id, uint64_t time)
{
	const size_t clock = tp_proto_begin(proto, TP_SNAPSHOT_CLOCKS);

	tp_proto_number(proto, TP_CLOCK_ID, id);
	tp_proto_number(proto, TP_CLOCK_TIMESTAMP, time);
	tp_proto_end(proto, clock);
}

/* By the release, readers know what a thread's state means. */
static bool put_system(struct packets *packets, size_t trace_nr, uint64_t time, const struct trace *kernel)
{
	struct tp_proto *proto = &packets->proto;
	char release[80];

	metadata_origin(&kernel->metadata, "kernel_release", release, sizeof(release));
	open_with(packets, trace_nr, time, TP_SEQUENCE_NEEDS_STATE);
	const size_t info = tp_proto_begin(proto, SYSTEM_INFO);
	const size_t name = tp_proto_begin(proto, SYSTEM_NAME);
	tp_proto_text(proto, KERNEL_NAME, "Linux", strlen("Linux"));
	tp_proto_text(proto, KERNEL_RELEASE, release, strlen(release));
	tp_proto_end(proto, name);
	tp_proto_end(proto, info);
	return packet_close(packets);
}

bool packets_begin(struct packets *packets, size_t trace_nr, uint64_t time)
{
	const uint32_t machine = packets->machines[trace_nr];
	const struct trace *kernel = packets->has_begun[machine - 1] ? NULL : kernel_of(packets, machine);
	struct tp_proto *proto = &packets->proto;

	if (packets->has_begun[machine - 1])
		return true;
	packets->has_begun[machine - 1] = true;
	open_with(packets, trace_nr, time, TP_SEQUENCE_STATE_CLEARED);
	const size_t snapshot = tp_proto_begin(proto, TP_PACKET_CLOCK_SNAPSHOT);
	put_clock(proto, TP_BUILTIN_REALTIME, time);
	if (kernel)
		put_clock(proto, TP_BUILTIN_BOOTTIME, time - kernel->metadata.boot_ns);
	tp_proto_number(proto, TP_SNAPSHOT_PRIMARY, TP_BUILTIN_REALTIME);
	tp_proto_end(proto, snapshot);
	return packet_close(packets) && (!kernel || put_system(packets, trace_nr, time, kernel));
}
