/* SPDX-License-Identifier: MIT */
/* count.h - how much is in a trace. */
#ifndef COUNT_H
#define COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "read/metadata.h"

struct trace_count {
	uint64_t events;
	uint64_t bytes; /* of all packets' contents */
	uint64_t lost;  /* events, as far as the trace says */
	char process[COMM_SIZE + 1]; /* the name of the one that has recorded it, or "" */
};

/*
 * Reads the trace. False, and a message, where it can't be read; or where may_continue, which is asked now and then, returns
 * false: without a message.
 */
bool trace_count(struct trace_count *count, const char *path, bool (*may_continue)(void));

#endif /* COUNT_H */
