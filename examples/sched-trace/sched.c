// SPDX-License-Identifier: MIT
/*
 * sched.c - a scheduler that runs three tasks in turn, and hits a tracepoint
 * whenever it switches. It knows nothing of who listens.
 */
#define CREATE_TRACE_POINTS
#include "sched-trace.h"

#define NR_TASKS 3

static struct task_struct tasks[NR_TASKS] = {
	{.pid = 1, .state = 0},
	{.pid = 2, .state = 1},
	{.pid = 3, .state = 0},
};
static struct task_struct *current = &tasks[0];

static struct task_struct *pick_next_task(void)
{
	return &tasks[(current - tasks + 1) % NR_TASKS];
}

static void schedule(void)
{
	struct task_struct *prev = current;
	struct task_struct *next = pick_next_task();

	trace_sched_switch(prev, next);
	current = next;
}

int main(void)
{
	for (int i = 0; i < NR_TASKS; i++)
		schedule();
	return 0;
}
