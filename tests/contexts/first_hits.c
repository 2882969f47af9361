/* SPDX-License-Identifier: MIT */
/*
 * first_hits.c - a thread's first hit while another thread forks, and the fork waits for that very hit: as it does when
 * the hit is in a signal handler that has interrupted malloc, since glibc's fork waits for malloc behind all handlers of
 * pthread_atfork(). Here a handler waits that was registered before the runtime's, and so is called behind it.
 *
 *	first_hits		prints how often its probe was called
 *	first_hits grace	the probe goes on behind the fork, and is waited for
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "lessons.h"

int lessons_fn_reg(void)
{
	return 0;
}

void lessons_fn_unreg(void)
{
}

static bool armed;
static sem_t go, hit, let_go;
static unsigned int calls, in_probe, nested;

/* The fork's last handler: it goes on when the other thread has hit. */
static void wait_for_hit(void)
{
	if (!armed)
		return;
	sem_post(&go);
	while (sem_wait(&hit) != 0)
		;
}

static void register_early(void)
{
	pthread_atfork(wait_for_hit, NULL, NULL);
}

/* In front of all constructors. */
static __attribute__((section(".preinit_array"), used)) void (*preinit)(void) = register_early;

typedef void lessons_probe(void *data, int n);

static void probe(void *data, int n)
{
	(void)data;
	(void)n;
	__atomic_fetch_add(&calls, 1, __ATOMIC_SEQ_CST);
}

/* The fork goes on while this is in its probe; which is a reader meanwhile, and hits, too. */
static void long_probe(void *data, int n)
{
	(void)data;
	if (n == 2) {
		__atomic_fetch_add(&nested, 1, __ATOMIC_SEQ_CST);
		return;
	}
	__atomic_store_n(&in_probe, 1, __ATOMIC_SEQ_CST);
	CHECK(tracepoint_synchronize_unregister() == -EDEADLK);
	trace_lessons_hit(2);
	sem_post(&hit);
	while (sem_wait(&let_go) != 0)
		;
	trace_lessons_hit(2);
	__atomic_store_n(&in_probe, 0, __ATOMIC_SEQ_CST);
}

static void *hits_first(void *unused)
{
	while (sem_wait(&go) != 0)
		;
	trace_lessons_hit(1);
	sem_post(&hit);
	while (sem_wait(&let_go) != 0)
		;
	trace_lessons_hit(3);
	return unused;
}

static void *synchronizes(void *unused)
{
	CHECK(tracepoint_synchronize_unregister() == 0);
	CHECK(!__atomic_load_n(&in_probe, __ATOMIC_SEQ_CST));
	return unused;
}

/* While the other thread is in its probe. */
static void wait_for_the_probe(void)
{
	pthread_t waiter;

	CHECK(unregister_trace_lessons_hit(long_probe, NULL) == 0);
	CHECK(pthread_create(&waiter, NULL, synchronizes, NULL) == 0);
	usleep(50000);
	CHECK(__atomic_load_n(&in_probe, __ATOMIC_SEQ_CST));
	sem_post(&let_go);
	pthread_join(waiter, NULL);
}

/* Nobody is in a probe here: the thread is the parent's. */
static void be_child(lessons_probe *registered)
{
	armed = false;
	CHECK(unregister_trace_lessons_hit(registered, NULL) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
	CHECK(register_trace_lessons_hit(probe, &calls) == 0);
	trace_lessons_hit(4);
	CHECK(unregister_trace_lessons_hit(probe, &calls) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
	_exit(fork() < 0);
}

int main(int argc, char **argv)
{
	const bool grace = argc > 1 && strcmp(argv[1], "grace") == 0;
	pthread_t thread;
	int status;

	sem_init(&go, 0, 0);
	sem_init(&hit, 0, 0);
	sem_init(&let_go, 0, 0);
	CHECK(register_trace_lessons_hit(grace ? long_probe : probe, NULL) == 0);
	CHECK(pthread_create(&thread, NULL, hits_first, NULL) == 0);
	armed = true;
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0)
		be_child(grace ? long_probe : probe);
	armed = false;
	if (grace)
		wait_for_the_probe();
	sem_post(&let_go);
	pthread_join(thread, NULL);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	printf("%u %u\n", calls, nested);
	return 0;
}
