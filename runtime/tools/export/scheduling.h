/* SPDX-License-Identifier: MIT */
/*
 * scheduling.h - the kernel's events of which Perfetto makes tracks of processors and states of threads. It wants them as the kernel's, not as
 * events of threads: protos/perfetto/trace/ftrace/ftrace_event_bundle.proto, ftrace_event.proto and sched.proto.
 */
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include <tp/event.h>

#include "export/packets.h"
#include "report/merge.h"

/* Which of them an event of the trace is; NULL: none. */
const struct scheduling *scheduling_of(const struct trace *trace, const struct event_format *format);

/* Its packet. described: the event, as select/description.h describes it. False, and a message: the file can't be written. */
bool scheduling_put(const struct scheduling *scheduling, struct packets *packets, const struct merged *merged, const struct tp_event *described);

#endif /* SCHEDULING_H */
