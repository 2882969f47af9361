/* SPDX-License-Identifier: MIT */
/*
 * ctf_preparer.c - a thread that makes packets ahead of need, and closes full
 * ones, so that those that record need not. Only where the user asks for it: a
 * process with a thread more is not the same to everybody (unshare, pthread_exit in main).
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctf.h"

/* Its frames are small, but threads' local storage is on the stack, too. */
#define STACK ((size_t)256 << 10)

static void *run(void *argument)
{
	struct ctf_sink *sink = argument;
	struct tp_guard guard;

	prctl(PR_SET_NAME, "tp-prepare");
	/* For good: what it calls may be traced, but it has no stream, as it would be the one to make its packets. */
	tp_guard_enter(&guard);
	while (!__atomic_load_n(&sink->stopping, __ATOMIC_ACQUIRE)) {
		uint32_t seen = __atomic_load_n(&sink->work, __ATOMIC_ACQUIRE);
		tp_ctf_packets_work(sink);
		syscall(SYS_futex, &sink->work, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
	tp_guard_leave(&guard);
	return NULL;
}

void tp_ctf_preparer_start(struct ctf_sink *sink)
{
	pthread_attr_t attributes;
	struct tp_guard guard;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	tp_guard_enter(&guard); /* the program's handlers are not for this thread, which inherits what is blocked */
	sink->preparing = true;
	int error = pthread_create(&sink->preparer, &attributes, run, sink);
	if (error)
		sink->preparing = false;
	tp_guard_leave(&guard);
	pthread_attr_destroy(&attributes);
	if (error)
		tp_complain("CTF trace '%s': no thread can be made that prepares packets: %s; the threads that record "
			    "do it themselves",
			    sink->path, strerror(error));
}

void tp_ctf_preparer_stop(struct ctf_sink *sink)
{
	if (!sink->preparing)
		return;
	__atomic_store_n(&sink->stopping, true, __ATOMIC_RELEASE);
	tp_ctf_packets_wake(sink);
	pthread_join(sink->preparer, NULL);
	sink->preparing = false;
}
