/* SPDX-License-Identifier: MIT */
/* trace_dir.h - the folder of a trace, and which packets are in it. */
#ifndef TRACE_DIR_H
#define TRACE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "read/folder.h"

#define PACKET_NAME_SIZE 64

/* A packet as it was when the directory was read: what is recorded later does not count. */
struct packet {
	uint64_t stream;    /* the same for all packets of a stream, and of no other's */
	uint64_t sequence;  /* in its stream */
	uint64_t begin;     /* its time, in ticks of the trace's clock */
	uint64_t end;       /* no event of it is later */
	uint64_t content;   /* bytes of the file that count, its head among them */
	uint64_t discarded; /* events of its stream that were lost until its end */
	int32_t pid;        /* of the process, as its name says; 0: it does not */
	char name[PACKET_NAME_SIZE];
};

struct trace_dir {
	struct folder folder;
	struct packet *packets; /* stream after stream, each by time */
	size_t nr;
};

/* All of these say what is wrong where they return false, -1 or NULL. Zeros are no directory. */
bool trace_dir_open(struct trace_dir *dir, const char *path);
bool trace_dir_open_packed(struct trace_dir *dir, struct pack *pack, const char *inside, const char *path);
void trace_dir_close(struct trace_dir *dir);

/* Finds the packets. */
bool trace_dir_list(struct trace_dir *dir);

/* Whether the i-th packet is the first that there is of its stream. */
bool trace_dir_is_first(const struct trace_dir *dir, size_t i);

#define TRACE_LOST_UNKNOWN UINT64_MAX

/*
 * How many events were lost between the end of the packet before and the end
 * of the i-th, as the stream counts on; TRACE_LOST_UNKNOWN where a packet is missing. A flight
 * recorder's first packet says nothing of what was lost while there was a packet before.
 */
uint64_t trace_dir_lost(const struct trace_dir *dir, size_t i);

/*
 * Reads the packet from offset on, at most size bytes: fewer at the file's end, which may have come too early. -1: that
 * fails, or the file is not that packet any more, but one that came after it in a flight recorder.
 */
ssize_t trace_dir_read(const struct trace_dir *dir, const struct packet *packet, void *to, size_t size, uint64_t offset);

#endif /* TRACE_DIR_H */
