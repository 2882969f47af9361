/* SPDX-License-Identifier: MIT */
/* threads.c - storms of signals, and threads that are soon gone. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

__thread unsigned int in_signal;

/* ---- Alternate stacks ---- */

/* Sanitizers make frames large. */
#define STACK_SIZE ((size_t)256 << 10)

static __thread stack_t old_stack;
static __thread void *stack;

void stack_begin(void)
{
	stack = malloc(STACK_SIZE);
	if (!stack)
		die("out of memory");
	stack_t new_stack = {.ss_sp = stack, .ss_size = STACK_SIZE};
	sigaltstack(&new_stack, &old_stack);
}

/* A sanitizer unmaps what it finds there at the thread's end: it must be its own. */
void stack_end(void)
{
	sigaltstack(&old_stack, NULL);
	free(stack);
	stack = NULL;
}

/* ---- Signals ---- */

static void send(pid_t tid, int signal)
{
	syscall(SYS_tgkill, getpid(), tid, signal); /* it may be gone: all threads can take it */
}

static void on_signal(int signal)
{
	int error = errno;

	if (!me)
		return;
	in_signal++;
	count(signal == SIGUSR1 ? COUNT_signals : COUNT_signals_nested);
	hit_any(SIGNAL_HIT);
	if (signal == SIGUSR1 && rnd(4) == 0)
		send((pid_t)syscall(SYS_gettid), SIGUSR2);
	hit_any(SIGNAL_HIT);
	in_signal--;
	errno = error;
}

void signaller(void)
{
	at("sending");
	for (int i = 0; i < 20; i++) {
		pid_t tid;
		if (any_worker_tid(&tid))
			send(tid, SIGUSR1);
	}
	nap(1000);
}

/* ---- Threads ---- */

static pthread_key_t key;

/*
 * glibc calls destructors as long as they set values again, up to four times;
 * liburcu's own may be before or behind. In the last round ThreadSanitizer
 * ends its own thread first, and what it instruments can't run any more: that
 * is the runtime's destructor, too, which has its turn after a hit.
 */
#define ROUNDS (UNDER_THREAD_SANITIZER ? 2 : 4)

static void at_thread_exit(void *value)
{
	uintptr_t round = (uintptr_t)value;

	for (int i = 0; i < 5; i++) {
		count(COUNT_exit_hits);
		hit_any(EXIT_HIT);
	}
	if (round < ROUNDS)
		pthread_setspecific(key, (void *)(round + 1));
}

void threads_start(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (opt_alternate ? SA_ONSTACK : 0) | SA_RESTART};

	CHECK(pthread_key_create(&key, at_thread_exit) == 0, "no key for a destructor");
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

static void *short_life(void *worker)
{
	worker_begin(worker);
	pthread_setspecific(key, (void *)1);
	for (unsigned long i = rnd(20); i; i--)
		hit_any(PLAIN_HIT);
	if (rnd(4) == 0)
		session(true);
	count(COUNT_threads);
	worker_end();
	return NULL;
}

#define NR_TOGETHER 4

void churner(void)
{
	static __thread struct worker *workers[NR_TOGETHER];
	pthread_t threads[NR_TOGETHER];

	at("creating threads");
	for (int i = 0; i < NR_TOGETHER; i++) {
		if (!workers[i])
			workers[i] = worker_new("short-lived");
		int error = pthread_create(&threads[i], NULL, short_life, workers[i]);
		CHECK(error == 0, "pthread_create: %d", error);
	}
	at("joining threads");
	for (int i = 0; i < NR_TOGETHER; i++)
		pthread_join(threads[i], NULL);
}
