/* SPDX-License-Identifier: MIT */
/* recorder.h - the process that moves the kernel's events from the ring buffers into packets. */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/kernel_trace.h"

struct recorder_result {
	uint64_t lost;
	bool failed; /* a message has said why */
};

struct recorder;

/*
 * Switches tracing on. is_flight: what is in the buffers in the end is recorded, and all that they have lost before is not meant. NULL, and a
 * message.
 */
struct recorder *recorder_begin(struct kernel_trace *trace, const struct instance *instance, const struct ring_layout *layout, bool is_flight);

/* Records until the descriptor stop reports an end, which it does when nobody has the other one open any more. Frees the recorder. */
struct recorder_result recorder_run(struct recorder *recorder, int stop);

#endif /* RECORDER_H */
