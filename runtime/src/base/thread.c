/* SPDX-License-Identifier: MIT */
/*
 * base/thread.c - what the runtime keeps for each thread: its id, and what has
 * to be done when it exits.
 */
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/thread.h"

static TP_THREAD_LOCAL int32_t cached_id;

/*
 * The destructor runs once in each of the rounds that glibc makes over the
 * keys while destructors set them again; after the last it runs no more.
 */
static TP_THREAD_LOCAL unsigned int exit_rounds;

static pthread_key_t exit_key;
static bool exit_key_made;

/* What exiting threads call: at most as many as there are callers of tp_thread_arm(). */
#define MOST 12
static void (*leaves[MOST])(void);

/*
 * Without a system call, which a filter may forbid: the C library knows the id. The clock of a thread's processor time
 * has it in its number; that is the kernel's interface (CPUCLOCK_PID in linux/posix-timers.h). 0: it has another form.
 */
static int32_t id_by_clock(void)
{
	const clockid_t of_a_thread = 4, of_all_its_time = 2, kind = 7;
	clockid_t clock;

	if (pthread_getcpuclockid(pthread_self(), &clock) != 0 || (clock & kind) != (of_a_thread | of_all_its_time))
		return 0;
	return ~(clock >> 3);
}

int32_t tp_thread_id(void)
{
	if (__builtin_expect(!cached_id, 0)) {
		cached_id = id_by_clock();
		if (cached_id <= 0)
			cached_id = (int32_t)syscall(SYS_gettid); /* can't fail */
	}
	return cached_id;
}

void tp_thread_forget_id(void)
{
	cached_id = 0;
}

void tp_thread_leave(void)
{
	for (unsigned int i = 0; i < MOST; i++) {
		void (*leave)(void) = __atomic_load_n(&leaves[i], __ATOMIC_RELAXED);
		if (leave)
			leave();
	}
}

bool tp_thread_is_exiting(void)
{
	return exit_rounds != 0;
}

static void thread_exit(void *unused)
{
	(void)unused;
	exit_rounds++;
	tp_thread_leave();
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

/* Without a lock, as a signal handler may be the one that comes here. */
static bool note(void (*leave)(void))
{
	for (unsigned int i = 0; i < MOST; i++) {
		void (*known)(void) = __atomic_load_n(&leaves[i], __ATOMIC_RELAXED);
		if (!known && __atomic_compare_exchange_n(&leaves[i], &known, leave, false, __ATOMIC_RELAXED,
							  __ATOMIC_RELAXED))
			return true;
		if (known == leave)
			return true;
	}
	return false;
}

bool tp_thread_arm(void (*leave)(void))
{
	if (exit_rounds >= PTHREAD_DESTRUCTOR_ITERATIONS || !note(leave))
		return false;
	/* Without the key the memory of exited threads is not used again: a leak, but the records are there. */
	if (exit_key_made)
		pthread_setspecific(exit_key, &exit_key);
	return true;
}
