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

/*
 * The head of each packet, as the trace's metadata describes it. Its second
 * half is one aligned store where a flight recorder begins a packet again: then it
 * says another thing as a whole, whenever the process is killed.
 */
struct tp_packet {
	uint32_t magic;
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t content_size;    /* bits; in front of timestamp_end, so that a reader never sees it newer than that */
	uint64_t packet_size;     /* bits */
	uint64_t timestamp_begin; /* ticks of the trace's clock, as all times in it */
	uint64_t timestamp_end;
	uint64_t packet_seq_num;
	uint64_t events_discarded;
};

/* That in the trace's metadata: TSDL. */
#define TP_PACKET_HEADER                                                                                          \
	"\tpacket.header := struct {\n"                                                                           \
	"\t\tuint32_t magic;\n"                                                                                   \
	"\t\tuint32_t stream_id;\n"                                                                               \
	"\t\tuint64_t stream_instance_id;\n"                                                                      \
	"\t};\n"
#define TP_PACKET_CONTEXT                                                                                         \
	"\tpacket.context := struct {\n"                                                                          \
	"\t\tuint64_t content_size;\n"                                                                            \
	"\t\tuint64_t packet_size;\n"                                                                             \
	"\t\ttimestamp_t timestamp_begin;\n"                                                                      \
	"\t\ttimestamp_t timestamp_end;\n"                                                                        \
	"\t\tuint64_t packet_seq_num;\n"                                                                          \
	"\t\tuint64_t events_discarded;\n"                                                                        \
	"\t};\n"

#endif /* TP_PACKET_H */
