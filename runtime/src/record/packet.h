/* SPDX-License-Identifier: MIT */
/*
 * record/packet.h - the layout of a packet, for the tools, too.
 */
#ifndef TP_PACKET_H
#define TP_PACKET_H

#include <stdint.h>

#define TP_CTF_MAGIC 0xC1FC1FC1u

/* Where an event begins in a packet, and what is in front of its record there, at least: its time. In bytes. */
#define TP_STREAM_ALIGN 8
#define TP_STREAM_TIME 8

/* The head of each packet, as the trace's metadata describes it. */
struct tp_packet {
	uint32_t magic;
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin; /* ticks of the trace's clock, as all times in it */
	uint64_t content_size;    /* bits; in front of timestamp_end, so that a reader never sees it newer than that */
	uint64_t timestamp_end;
	uint64_t packet_size;     /* bits */
	uint64_t packet_seq_num;
	uint64_t events_discarded;
};

#endif /* TP_PACKET_H */
