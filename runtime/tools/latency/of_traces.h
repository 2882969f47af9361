/* SPDX-License-Identifier: MIT */
/* of_traces.h - the latency of the events in recorded traces. */
#ifndef OF_TRACES_H
#define OF_TRACES_H

#include "latency/latency.h"

struct latency_wanted {
	const char *begin, *end;  /* events */
	const char *key, *by;     /* fields, "id,peer" or "id:request"; NULL: none */
	size_t slowest;
};

/*
 * Measures those of all traces, in the order of time. Begins and ends belong together within a process only, as in processes
 * that run. False, and a message.
 */
bool latency_of_traces(struct latency *latency, const struct latency_wanted *wanted, char *const *paths, size_t nr);

#endif /* OF_TRACES_H */
