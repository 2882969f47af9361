// SPDX-License-Identifier: MIT
/*
 * sched-trace.c - the probe of the tracepoint, with a marker in it: it
 * translates what only this program understands, a task, into basic types,
 * which any tool does.
 *
 *	TP_ENABLE='marker:*' sched-trace
 *
 * connects a sink to the marker. Without, the marker costs the probe one
 * instruction that does nothing.
 */
#include <tp/marker.h>

#include "sched-trace.h"

/* The program is the kernel, and all its modules are part of it. */
#define __init __attribute__((constructor))
#define __exit __attribute__((destructor))

static void probe_sched_switch(void *data, struct task_struct *prev, struct task_struct *next)
{
	(void)data;
	trace_mark(kernel_sched_switch, "prev_pid %d next_pid %d prev_state %ld", prev->pid, next->pid, prev->state);
}

int __init sched_trace_init(void)
{
	return register_trace_sched_switch(probe_sched_switch, NULL);
}

void __exit sched_trace_exit(void)
{
	unregister_trace_sched_switch(probe_sched_switch, NULL);
	tracepoint_synchronize_unregister();
}
