/* SPDX-License-Identifier: MIT */
/* kernel_stream.h - the packets of a processor, in a trace as a process records one. They are a valid trace at every moment. */
#ifndef KERNEL_STREAM_H
#define KERNEL_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/tasks.h"
#include "record/packet.h"

/* Zeros, with fd -1, are none. */
struct kernel_stream {
	int dir; /* of the trace */
	const char *path;
	int cpu;
	int fd;                 /* of the packet's file */
	struct tp_packet *head; /* mapped; NULL: no packet is open */
	uint64_t sequence;      /* of the next packet */
	uint64_t lost;          /* events, so far */
	uint64_t time;          /* of the last event */
	uint64_t written;       /* bytes of the packet */
	uint64_t content;       /* until the end of the last event, behind which nothing is to be but another */
	unsigned char *buffer;  /* what comes behind them */
	size_t buffered;
};

/* False, and a message. time is in ticks of the trace's clock. */
bool kernel_stream_event(struct kernel_stream *stream, uint64_t time, const struct task *task, const unsigned char *record, size_t size);
bool kernel_stream_flush(struct kernel_stream *stream);

/* Closes the packet. False, and a message. */
bool kernel_stream_end(struct kernel_stream *stream);

#endif /* KERNEL_STREAM_H */
