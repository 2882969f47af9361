// SPDX-License-Identifier: MIT
/*
 * tracepoint-probe-example.c - a module that listens to a tracepoint of
 * another one, which may be loaded before it, after it, or never.
 */
#include "../tracepoint-example/module.h"
#include "subsys.h"

/*
 * Called each time that the tracepoint is hit, in the thread that hits it.
 * The first argument is the pointer given at registration; then follow the
 * event's own. The compiler checks their types at the registration below.
 */
static void probe_subsys_eventname(void *data, int firstarg, struct task_struct *p)
{
	(void)data;
	printk("tracepoint-probe-example: subsys_eventname, firstarg=%d comm=%s", firstarg, p->comm);
}

int module_init(void)
{
	printk("tracepoint-probe-example: init");
	return register_trace_subsys_eventname(probe_subsys_eventname, NULL);
}

void module_exit(void)
{
	unregister_trace_subsys_eventname(probe_subsys_eventname, NULL);
	/*
	 * Another thread may be in the probe at this moment. Without waiting
	 * for it here, the code that it runs would be unloaded under its feet.
	 */
	tracepoint_synchronize_unregister();
	printk("tracepoint-probe-example: exit");
}
