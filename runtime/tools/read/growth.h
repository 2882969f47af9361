/* SPDX-License-Identifier: MIT */
/* growth.h - how much is in a trace that is being recorded: only what is new is read. */
#ifndef GROWTH_H
#define GROWTH_H

#include "read/count.h"

struct counted_packet;

/* Zeros are a trace that nobody has looked at. */
struct trace_growth {
	struct counted_packet *packets; /* as they were when they were counted, by their names */
	size_t nr;
};

/*
 * Reads what has come since the last call. False: it can't be read now, and nothing is said: there may be no event yet, or a flight
 * recorder has just taken a packet for new events.
 */
bool trace_growth_count(struct trace_growth *growth, const char *path, struct trace_count *count);
void trace_growth_free(struct trace_growth *growth);

#endif /* GROWTH_H */
