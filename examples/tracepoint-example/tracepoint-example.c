// SPDX-License-Identifier: MIT
/*
 * tracepoint-example.c - a module with a tracepoint in it.
 *
 * Every open of its /proc file hits the tracepoint. Whether a probe listens
 * is not this module's business: it knows of none, and runs the same without.
 */
#include <errno.h>

#include "module.h"

/*
 * The events of defs/subsys.tp. CREATE_TRACE_POINTS makes this the one file
 * that defines them; every other file just includes the header.
 */
#define CREATE_TRACE_POINTS
#include "subsys.h"

static int opens;

int proc_open(struct task_struct *task)
{
	opens++;
	trace_subsys_eventname(opens, task);
	return -EPERM; /* the expected error: there is nothing to read here */
}

int module_init(void)
{
	printk("tracepoint-example: init");
	return 0;
}

void module_exit(void)
{
	printk("tracepoint-example: exit");
}
