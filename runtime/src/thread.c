/* SPDX-License-Identifier: MIT */
/*
 * thread.c - what the runtime keeps for each thread: its id, and what has to
 * be done when it exits. That calls up to those who have something to give
 * back: they are three, and a list of callbacks would be more than all of them.
 */
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

static TP_THREAD_LOCAL int32_t cached_id;

/*
 * The destructor runs once in each of the rounds that glibc makes over the
 * keys while destructors set them again; after the last it runs no more.
 */
static TP_THREAD_LOCAL unsigned int exit_rounds;

static pthread_key_t exit_key;
static bool exit_key_made;

int32_t tp_thread_id(void)
{
	if (__builtin_expect(!cached_id, 0))
		cached_id = (int32_t)syscall(SYS_gettid); /* can't fail */
	return cached_id;
}

void tp_thread_after_fork_child(void)
{
	cached_id = 0;
}

static void thread_exit(void *unused)
{
	(void)unused;
	exit_rounds++;
	tp_ctf_thread_exit();
	tp_stats_thread_exit();
	tp_scratch_thread_exit();
}

/*
 * Early in the process: the values of a process's first 32 keys need no
 * malloc, so that tp_thread_arm() works in a signal handler that interrupted
 * one.
 */
void tp_thread_start(void)
{
	exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
}

bool tp_thread_arm(void)
{
	if (exit_rounds >= PTHREAD_DESTRUCTOR_ITERATIONS)
		return false;
	/* Without the key the memory of exited threads is not used again: a leak, but the records are there. */
	if (exit_key_made)
		pthread_setspecific(exit_key, &exit_key);
	return true;
}
