/* SPDX-License-Identifier: MIT */
/* dat_file.h - a trace.dat, version 6: what is in front of the pages, and its way to its name. */
#ifndef DAT_FILE_H
#define DAT_FILE_H

#include <stdio.h>

#include "client/new_file.h"
#include "dat/dat_events.h"
#include "read/threads.h"

/* A stream of the trace, which readers take for a CPU. */
struct dat_cpu {
	const char *name; /* of its first packet */
	uint64_t events;
	uint64_t lost;
	uint64_t offset; /* of its pages in the file, and their bytes */
	uint64_t size;
};

struct dat_file {
	struct new_file new;
	long cpus_at; /* where the CPUs' offsets and sizes go */
};

/* All of these say what is wrong where they return false. */
bool dat_file_open(struct dat_file *dat, const char *path);

/* Writes all that is in front of the pages. word: bytes of a long. Returns where these may begin; 0 and a message, where it fails. */
uint64_t dat_file_head(struct dat_file *dat, size_t page_size, uint32_t word, const struct dat_events *events, const struct threads *threads,
		       const struct dat_cpu *cpus, uint32_t nr);

/* The CPUs' pages are in the file, which gets its name. */
bool dat_file_finish(struct dat_file *dat, const struct dat_cpu *cpus, uint32_t nr, uint64_t end);

/* Takes it away, where it was not finished. */
void dat_file_close(struct dat_file *dat);

#endif /* DAT_FILE_H */
