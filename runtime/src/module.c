/* SPDX-License-Identifier: MIT */
/*
 * module.c - the coming and going of modules, and of processes by fork.
 */
#include <urcu/urcu-bp.h>

#include "internal.h"

/*
 * All locks are held across a fork, so that the child finds them free and
 * what they protect whole. liburcu's come first: its lock may be held by
 * somebody who waits for a reader who waits for one of ours.
 */
static void before_fork(void)
{
	urcu_bp_register_thread(); /* which before_fork would lock out, and tp_lock wants */
	urcu_bp_before_fork();
	tp_lock(&tp_events_lock);
	tp_lock(&tp_registry_lock);
	tp_ctf_before_fork();
	tp_sinks_before_fork();
}

static void after_fork(bool child)
{
	if (child)
		tp_thread_after_fork_child();
	tp_sinks_after_fork(child);
	tp_ctf_after_fork();
	tp_unlock(&tp_registry_lock);
	tp_unlock(&tp_events_lock);
	if (child)
		urcu_bp_after_fork_child();
	else
		urcu_bp_after_fork_parent();
}

static void after_fork_parent(void)
{
	after_fork(false);
}

static void after_fork_child(void)
{
	after_fork(true);
}

static void start(void)
{
	tp_thread_start();
	if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0)
		tp_complain("no memory to prepare for fork: a forked child must not use tracepoints");
}

void tp_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
}

/* Modules announce themselves once for each of their files; reserved[0] says that it was done. */
void tp_module_load(struct tp_module *module)
{
	tp_start();
	tp_lock(&tp_events_lock);
	bool first = !module->reserved[0];
	if (first) {
		module->reserved[0] = module;
		tp_registry_load(module);
		tp_events_load(module);
		tp_sinks_load(module);
	}
	tp_unlock(&tp_events_lock);
	if (first)
		tp_env_start();
}

static void unload_events(struct tp_module *module)
{
	for (struct tp_event **at = module->events; at < module->events_end; at++) {
		const struct group *left = *at ? tp_event_unload(*at) : NULL;
		if (left)
			tp_sinks_follow(left);
	}
}

void tp_module_unload(struct tp_module *module)
{
	tp_lock(&tp_events_lock);
	bool last = module->reserved[0] != NULL;
	if (last) {
		module->reserved[0] = NULL;
		unload_events(module);
		tp_registry_unload(module);
	}
	tp_unlock(&tp_events_lock);

	/* Where exit() was called from inside a probe, what the readers may use is left as it is. */
	if (!last || urcu_bp_read_ongoing())
		return;
	tracepoint_synchronize_unregister();
	tp_lock(&tp_events_lock);
	tp_registry_settle(module);
	tp_events_settle(module);
	tp_unlock(&tp_events_lock);
}
