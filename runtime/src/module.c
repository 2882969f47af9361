/* SPDX-License-Identifier: MIT */
/*
 * module.c - the coming and going of modules, and of processes by fork.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>

#include <urcu/urcu-bp.h>

#include "internal.h"

/*
 * All locks are held across a fork, so that the child finds them free and
 * what they protect whole. liburcu's come first: its lock may be held by
 * somebody who waits for a reader who waits for one of ours.
 *
 * Inside a probe liburcu's may be held by somebody who waits for this very
 * reader: there it is left alone, and the child may find it taken. (A reader
 * before the fork is one after it, too.)
 */
static void before_fork(void)
{
	urcu_bp_register_thread(); /* which before_fork would lock out, and tp_lock wants */
	if (!urcu_bp_read_ongoing())
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
	if (urcu_bp_read_ongoing())
		return;
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

/* ---- The end of the process, and of the object that holds the runtime ---- */

/*
 * The process is at its end: modules are told to go, but not unmapped, and
 * are not waited for. A thread that sits in a probe would keep exit() from
 * ever returning.
 */
static bool exiting;

static void note_exit(void)
{
	__atomic_store_n(&exiting, true, __ATOMIC_RELAXED);
}

static void note_exit_at_exit(void)
{
	atexit(note_exit); /* no memory: then exit() waits */
}

void tp_readers_may_come(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, note_exit_at_exit);
}

static int is_in_first(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t address = (uintptr_t)data - info->dlpi_addr;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_memsz)
			return 1;
	}
	return -1; /* the first object, the main program, is the only one that is looked at */
}

static bool is_of_main_program(void *data)
{
	return dl_iterate_phdr(is_in_first, data) == 1;
}

/*
 * What the constructor of a library that the program is linked with has
 * registered runs behind the destructors of all modules. Those of the program
 * come after it.
 */
static void note_exit_of(struct tp_module *module)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (is_of_main_program(module))
		pthread_once(&once, note_exit_at_exit);
}

/*
 * Threads that exit call the runtime. So the object that libtp.a was linked
 * into must stay, as libtp.so does. In a constructor: its loader's lock is
 * held already, and nobody can wait for the two in another order. By dlsym, as
 * the mention of dlopen makes the linker warn of it in static programs.
 */
static void __attribute__((constructor)) pin(void)
{
	Dl_info info;

	if (is_of_main_program(&exiting) || !dladdr(&exiting, &info))
		return;
	void *(*open_object)(const char *, int) =
		(void *(*)(const char *, int))(uintptr_t)dlsym(RTLD_DEFAULT, "dlopen");
	if (open_object && info.dli_fname)
		open_object(info.dli_fname, RTLD_NOLOAD | RTLD_NODELETE | RTLD_LAZY);
}

/* ---- Modules ---- */

/* Modules announce themselves once for each of their files; reserved[0] says that it was done. */
void tp_module_load(struct tp_module *module)
{
	tp_start();
	note_exit_of(module);
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
	bool used = false;
	if (last) {
		module->reserved[0] = NULL;
		unload_events(module);
		used = tp_registry_unload(module);
	}
	tp_unlock(&tp_events_lock);
	if (!last)
		return;
	if (used) {
		/* What the readers may use is left as it is; also where exit() was called from inside a probe. */
		if (__atomic_load_n(&exiting, __ATOMIC_RELAXED) || urcu_bp_read_ongoing())
			return;
		tracepoint_synchronize_unregister();
	}
	tp_lock(&tp_events_lock);
	tp_registry_settle(module);
	tp_events_settle(module);
	tp_unlock(&tp_events_lock);
}
