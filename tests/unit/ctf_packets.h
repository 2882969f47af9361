/* SPDX-License-Identifier: MIT */
/*
 * ctf_packets.h - a trace as its files are: the heads of the packets; and whose
 * values are in it, as babeltrace2 tells.
 */
#ifndef CTF_PACKETS_H
#define CTF_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/stream.h"

struct packet_file {
	int pid; /* the name's parts */
	unsigned int number;
	unsigned long long sequence;
	off_t size;
	struct tp_packet head;
};

/*
 * Those of the trace in dir, in static memory until the next call: by process, stream,
 * packet_seq_num. Each must be whole, and within a stream the times must not go
 * backwards, nor a packet_seq_num be left out.
 */
const struct packet_file *packets_of(const char *dir, size_t *nr);

/* Lost records that the trace itself tells of. */
uint64_t discarded_in(const char *dir);

/* Bytes of all packets, the hidden ones included. */
uint64_t bytes_in(const char *dir);

/* The values of sample_int that a thread has recorded; of any, if tid is 0. They must be contiguous. */
struct run {
	unsigned int nr;
	int first, last;
};

struct run run_of(const char *text, int tid);

/* Mounts a disk of this size on dir, which it makes; false, after saying that the test is skipped, where it may not. */
bool small_disk(const char *test, const char *dir, const char *size);

#endif /* CTF_PACKETS_H */
