/* SPDX-License-Identifier: MIT */
/*
 * sinks/lttng/library.c - LTTng's libraries: loaded when the sink is opened, so that
 * nothing is linked with them.
 *
 * Their constructors make threads, which look for LTTng's daemon, and wait
 * until these have got an answer from one that is there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#include "base/message.h"
#include "base/stack.h"
#include "sinks/lttng/lttng.h"

#ifdef TP_HAS_LTTNG

struct tp_lttng_library tp_lttng;

/* What the loader shows to debuggers; NULL where it shows nothing. */
static const struct r_debug *loader_state;

static bool handles_fork;

static const char tracer[] = "liblttng-ust.so.1";
static const char tracepoints[] = "liblttng-ust-tracepoint.so.1";
static const char common[] = "liblttng-ust-common.so.1";

struct symbol {
	const char *library;
	const char *name;
	size_t offset; /* in struct tp_lttng_library */
};

static const struct symbol symbols[] = {
	{tracer, "lttng_ust_probe_register", offsetof(struct tp_lttng_library, probe_register)},
	{tracer, "lttng_ust_probe_unregister", offsetof(struct tp_lttng_library, probe_unregister)},
	{tracer, "lttng_ust_init_thread", offsetof(struct tp_lttng_library, init_thread)},
	{tracer, "lttng_ust_before_fork", offsetof(struct tp_lttng_library, before_fork)},
	{tracer, "lttng_ust_after_fork_parent", offsetof(struct tp_lttng_library, after_fork_parent)},
	{tracer, "lttng_ust_after_fork_child", offsetof(struct tp_lttng_library, after_fork_child)},
	{common, "lttng_ust_urcu_before_fork", offsetof(struct tp_lttng_library, rcu_before_fork)},
	{common, "lttng_ust_urcu_after_fork_child", offsetof(struct tp_lttng_library, rcu_after_fork_child)},
	{tracepoints, "lttng_ust_tracepoint_module_register", offsetof(struct tp_lttng_library, module_register)},
	{tracepoints, "lttng_ust_tracepoint_module_unregister", offsetof(struct tp_lttng_library, module_unregister)},
	{tracepoints, "lttng_ust_tp_rcu_read_lock", offsetof(struct tp_lttng_library, read_lock)},
	{tracepoints, "lttng_ust_tp_rcu_read_unlock", offsetof(struct tp_lttng_library, read_unlock)},
};

#define NR_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

static int refused(const char *library)
{
	const char *why = dlerror();

	tp_complain("LTTng output: %s can't be loaded: %s; install LTTng-UST 2.13 or later (Debian's package is "
		    "liblttng-ust1); nothing goes to LTTng", library, why ? why : "unknown error");
	return -ELIBACC;
}

/* It was there before main(), or never is. */
static bool fork_is_wrapped(void)
{
	void *object = tp_open_object("liblttng-ust-fork.so.1", RTLD_NOW | RTLD_NOLOAD);

	if (object)
		dlclose(object);
	return object != NULL;
}

int tp_lttng_load(void)
{
	struct tp_lttng_library found = {.probe_register = NULL};

	if (!dlsym(RTLD_DEFAULT, "dlopen")) {
		tp_complain("LTTng output: the program is linked statically and can't load %s; nothing goes to LTTng",
			    tracer);
		return -ENOTSUP;
	}
	for (size_t i = 0; i < NR_SYMBOLS; i++) {
		void *object = tp_open_object(symbols[i].library, RTLD_NOW | RTLD_NODELETE);
		if (!object)
			return refused(symbols[i].library);
		void *function = dlsym(object, symbols[i].name);
		if (!function)
			return refused(symbols[i].library);
		memcpy((char *)&found + symbols[i].offset, &function, sizeof(function));
		dlclose(object); /* RTLD_NODELETE: it stays */
	}
	tp_lttng = found;
	loader_state = dlsym(RTLD_DEFAULT, "_r_debug");
	__atomic_store_n(&handles_fork, !fork_is_wrapped(), __ATOMIC_RELAXED);
	tp_lttng.init_thread(); /* which may take the loader's lock: not under one of ours */
	return 0;
}

bool tp_lttng_handles_fork(void)
{
	return __atomic_load_n(&handles_fork, __ATOMIC_RELAXED);
}

bool tp_lttng_begin_again(sigset_t *signals)
{
	if (!loader_state || loader_state->r_state == RT_CONSISTENT) {
		tp_lttng.after_fork_child(signals);
		return true;
	}
	tp_lttng.after_fork_parent(signals);
	/* LTTng waits for readers at the exit, and must not for threads that are not here. */
	tp_lttng.rcu_before_fork();
	tp_lttng.rcu_after_fork_child();
	return false;
}

#endif
