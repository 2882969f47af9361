/* SPDX-License-Identifier: MIT */
/*
 * base/helper_thread.c - a thread of a sink's own, for what those that record need
 * not do. Only where the user asks for it: a process with a thread more is not the same to
 * everybody (unshare, pthread_exit in main).
 */
#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/helper_thread.h"
#include "base/readers.h"

/* Its frames are small. */
#define STACK ((size_t)256 << 10)

static void wait_for_work(struct tp_helper_thread *helper, uint32_t seen)
{
	struct timespec time = {.tv_sec = (time_t)(helper->interval_ns / 1000000000u),
				.tv_nsec = (long)(helper->interval_ns % 1000000000u)};

	syscall(SYS_futex, &helper->wakes, FUTEX_WAIT_PRIVATE, seen, helper->interval_ns ? &time : NULL, NULL, 0);
}

static void *run(void *data)
{
	struct tp_helper_thread *helper = data;
	struct tp_guard guard;

	prctl(PR_SET_NAME, helper->name);
	tp_readers_register_thread(); /* before all locks that its work takes */
	/* For good: what it calls may be traced, but it has no part in any sink, as it may be the one to make it. */
	tp_guard_enter(&guard);
	while (!__atomic_load_n(&helper->stopping, __ATOMIC_ACQUIRE)) {
		uint32_t seen = __atomic_load_n(&helper->wakes, __ATOMIC_ACQUIRE);
		helper->work(helper->data);
		wait_for_work(helper, seen);
	}
	tp_guard_leave(&guard);
	return NULL;
}

/* What threads' local storage takes of a stack only glibc knows; it has told so since 2.15 (as the JVM asks, too). */
void tp_helper_thread_attributes(pthread_attr_t *attributes)
{
	static size_t (*least)(const pthread_attr_t *);
	static bool looked; /* not in a forked child, where nobody may give back the loader's lock */

	if (!looked)
		least = (size_t (*)(const pthread_attr_t *))(uintptr_t)dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
	looked = true;
	pthread_attr_init(attributes);
	pthread_attr_setstacksize(attributes, STACK + (least ? least(attributes) : 0));
}

int tp_helper_thread_start(struct tp_helper_thread *helper)
{
	pthread_attr_t attributes;
	struct tp_guard guard;

	tp_helper_thread_attributes(&attributes);
	tp_guard_enter(&guard); /* the program's handlers are not for this thread, which inherits what is blocked */
	int error = pthread_create(&helper->id, &attributes, run, helper);
	tp_guard_leave(&guard);
	pthread_attr_destroy(&attributes);
	return error;
}

void tp_helper_thread_wake(struct tp_helper_thread *helper)
{
	__atomic_fetch_add(&helper->wakes, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &helper->wakes, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void tp_helper_thread_stop(struct tp_helper_thread *helper)
{
	__atomic_store_n(&helper->stopping, true, __ATOMIC_RELEASE);
	tp_helper_thread_wake(helper);
	pthread_join(helper->id, NULL);
}

bool tp_thread_ends_soon(pthread_t thread)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 200 * 1000 * 1000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return pthread_timedjoin_np(thread, NULL, &until) == 0;
}
