/* SPDX-License-Identifier: MIT */
/*
 * kernel_trace.h - a trace of the kernel's events, in the form in which a process records its own ones: all that reads those reads it, too.
 * A stream is a processor.
 */
#ifndef KERNEL_TRACE_H
#define KERNEL_TRACE_H

#include "base/clock.h"
#include "base/text.h"
#include "kernel/instance.h"
#include "kernel/kernel_events.h"
#include "kernel/ring_page.h"
#include "read/formats.h"
#include "read/trace_dir.h"

struct kernel_layout;

/* Zeros, with fd -1, are none. */
struct kernel_trace {
	char *path;
	int fd;
	struct trace_dir dir;
	struct formats formats;
	struct kernel_layout **layouts; /* of records, by the event's id; NULL: it is not in the trace */
	struct tp_buffer metadata; /* without the clock, which goes in there: */
	size_t clock_at;
	unsigned char *record; /* the last */
};

/* Makes the directory, with all but the packets. False, and a message. */
bool kernel_trace_make(struct kernel_trace *trace, const char *path, const struct instance *instance, const struct kernel_events *events,
		       const struct ring_layout *layout, const struct tp_clock *clock);
void kernel_trace_free(struct kernel_trace *trace);

/* The times are another clock's, of the same ticks. False, and a message. */
bool kernel_trace_set_clock(struct kernel_trace *trace, const struct tp_clock *clock);

/* The record as the trace has it, until the next call; NULL: the event is not in the trace. */
const unsigned char *kernel_trace_record(struct kernel_trace *trace, const struct ring_event *event, size_t *size);

#endif /* KERNEL_TRACE_H */
