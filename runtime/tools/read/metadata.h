/* SPDX-License-Identifier: MIT */
/* metadata.h - what the trace says of itself as a whole. */
#ifndef METADATA_H
#define METADATA_H

#include "read/field_types.h"
#include "read/trace_dir.h"

#define COMM_SIZE 16 /* as the system has names of threads, with the NUL */

struct metadata {
	/* Ticks are turned into time from the epoch by these. */
	uint64_t frequency;
	uint64_t offset_s;
	uint64_t offset; /* ticks, less than a second of them */

	/* Where things are in an event, in bytes from its start; its time is there. */
	uint32_t name_offset; /* of the thread, COMM_SIZE bytes; 0: there is none, as of the next two */
	uint32_t cpu_offset;
	uint32_t pid_offset;
	uint32_t record_offset;

	char process[COMM_SIZE]; /* its name, or "" */
	bool is_kernel;          /* it is of the kernel's events: tp record --kernel */
	uint64_t boot_ns;        /* from the epoch: when that was booted; its own clock for events counts from there */
	struct field_types types;
};

/* False, and a message, where it is no trace that this tool understands. To be freed in any case. */
bool metadata_read(struct metadata *metadata, const struct trace_dir *dir);
void metadata_free(struct metadata *metadata);

/*
 * What the trace says of where it is from: the value of "hostname", "program", "pid", "trace_creation_datetime", without
 * quotes and escapes, or that of the clock's "name". Returns its length, without what has no room; 0: it says nothing.
 */
size_t metadata_origin(const struct metadata *metadata, const char *name, char *to, size_t size);
size_t metadata_clock(const struct metadata *metadata, const char *name, char *to, size_t size);

/* All of its text, for free(); NULL, and a message. */
char *metadata_text(const struct trace_dir *dir, size_t *len);

/* Nanoseconds from the epoch. */
uint64_t metadata_time(const struct metadata *metadata, uint64_t ticks);

#endif /* METADATA_H */
