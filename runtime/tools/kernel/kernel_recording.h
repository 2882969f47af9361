/* SPDX-License-Identifier: MIT */
/*
 * kernel_recording.h - the kernel's events, recorded into a trace beside those of processes: DIR/kernel.
 *
 *	kernel_open()    whatever can be wrong is said here, before anything else is begun
 *	kernel_start()   a process of its own records, the recorder
 *	kernel_stop()    ... or the end of this program, whatever that is: the recorder finishes the trace, and takes the instance away
 *	kernel_close()
 */
#ifndef KERNEL_RECORDING_H
#define KERNEL_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/instance.h"
#include "kernel/kernel_events.h"
#include "kernel/kernel_trace.h"
#include "kernel/ring_page.h"

#define KERNEL_DIR "kernel"

struct kernel_recording {
	struct instance instance;
	struct kernel_events events;
	struct ring_layout layout;
	struct tp_clock clock;
	struct kernel_trace trace;
	bool is_flight;
	uint64_t buffer_kib; /* of each processor, as the kernel has made it */
	int stop;            /* closed, it ends the recorder; -1: it does not run */
	int result;          /* of the recorder */
};

#define NO_KERNEL_RECORDING {.instance = NO_INSTANCE, .trace = {.fd = -1}, .stop = -1, .result = -1}

/*
 * buffer: bytes of each processor's buffer, "16M"; NULL: as many as usual. is_flight: only what is in them in the end is wanted. TP_CLOCK may be
 * set for programs that are started. False, and a message.
 */
bool kernel_open(struct kernel_recording *recording, const char *patterns, const char *buffer, bool is_flight);

/* Below dir, which is there. False, and a message. signals_begin() was called. */
bool kernel_start(struct kernel_recording *recording, const char *dir);

/*
 * The traces beside it are complete. Its times are made those of the first that has its clock. may_wait is asked
 * now and then, until the recorder has written what is left. Returns the events that were lost; UINT64_MAX, and a message: nobody knows.
 */
uint64_t kernel_stop(struct kernel_recording *recording, const char *dir, bool (*may_wait)(void));

void kernel_close(struct kernel_recording *recording);

#endif /* KERNEL_RECORDING_H */
