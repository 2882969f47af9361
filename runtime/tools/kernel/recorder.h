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

/*
 * Records until the descriptor stop reports an end, which it does when nobody has the other one open any more. Removes the instance, but for
 * descriptors that others have.
 */
struct recorder_result recorder_run(struct kernel_trace *trace, struct instance *instance, const struct ring_layout *layout, int stop);

#endif /* RECORDER_H */
