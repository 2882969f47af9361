/* SPDX-License-Identifier: MIT */
/*
 * packets.h - a Perfetto trace as a file of packets: protos/perfetto/trace/trace_packet.proto. The packets of a machine are one
 * sequence, whose numbers for names hold until its end.
 */
#ifndef PACKETS_H
#define PACKETS_H

#include <stdio.h>

#include "read/traces.h"
#include "sinks/perfetto/proto.h"

struct packets {
	FILE *file;
	const char *path;
	struct tp_proto proto; /* the packet that is being written */
	size_t begin;
	const struct traces *traces;
	uint32_t *machines; /* of each trace, from 1 */
	bool *has_begun;    /* each machine's sequence */
};

/* False, and a message: there is no memory. To be freed in any case. */
bool packets_init(struct packets *packets, const struct traces *traces);
void packets_free(struct packets *packets);

/* Begins a packet of the trace's machine, at a time in ns from the epoch. */
void packet_open(struct packets *packets, size_t trace_nr, uint64_t time);

/* Writes it. False, and a message: the file can't be written. */
bool packet_close(struct packets *packets);

/*
 * In front of a machine's first event: what its times are, of its kernel's events, too, and that no names are known yet. False, and a
 * message.
 */
bool packets_begin(struct packets *packets, size_t trace_nr, uint64_t time);

#endif /* PACKETS_H */
