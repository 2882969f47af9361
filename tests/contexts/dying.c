/* SPDX-License-Identifier: MIT */
/*
 * dying.c - "dying HOW INSIDE THREADS": each of the threads records RECORDS times, and then ends inside
 * TP_fast_assign; one that comes after it records as often. What is recorded has a number, from 1 on; what can't be,
 * a negative one.
 *
 *	exit      by pthread_exit()
 *	cancel    is cancelled
 *	jump      by longjmp(), and then ends
 *	survive   by siglongjmp() out of a handler of SIGSEGV, and goes on: it records as often once more
 *	main      as exit, but the main thread ends so, too
 *	above     does not end: a handler records inside it, on a stack that is above the thread's
 *
 * INSIDE records are made inside that one, before it ends, and a thread that is cancelled makes one more as it goes.
 */
#define CREATE_TRACE_POINTS
#include "dying.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#define RECORDS 20

static const char *how;
static int inside;
static int number;
static sigjmp_buf back;
static volatile int *volatile nowhere = (int *)4096;

static void require(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "dying: %s\n", what);
	abort();
}

void dying_assign(int end)
{
	if (!end)
		return;
	if (strcmp(how, "above") == 0) {
		raise(SIGUSR1);
		return;
	}
	for (int i = 0; i < inside; i++)
		trace_dying_inside(-1);
	if (strcmp(how, "jump") == 0)
		siglongjmp(back, 1);
	if (strcmp(how, "survive") == 0)
		*nowhere = 1;
	if (strcmp(how, "cancel") != 0)
		pthread_exit(NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void work(void)
{
	for (int i = 0; i < RECORDS; i++)
		trace_dying_work(++number, "some text", 0);
}

static void say_last_words(void *unused)
{
	(void)unused;
	if (inside)
		trace_dying_inside(-2);
}

static void jump(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* With a stack of its own, as a server has that survives; but AddressSanitizer does not know that it is left. */
static void survive(void)
{
	struct sigaction action = {.sa_handler = jump};
#ifndef __SANITIZE_ADDRESS__
	static char memory[1 << 16];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};

	action.sa_flags = SA_ONSTACK;
	require(sigaltstack(&stack, NULL) == 0, "no stack");
#endif
	require(sigaction(SIGSEGV, &action, NULL) == 0, "no handler");
}

/* Deeper in the stack than what comes after it. */
static __attribute__((noinline, no_sanitize_address)) void record_last(void)
{
	char deep[4096];

	__asm__ volatile("" : : "r"(deep) : "memory");
	trace_dying_work(-1, "no more", 1);
	__asm__ volatile("" : : "r"(deep) : "memory");
}

/* Where the sink makes no record of the event, the thread ends here. */
static void *die(void *unused)
{
	static int times;

	if (strcmp(how, "survive") == 0)
		survive();
	work();
	pthread_cleanup_push(say_last_words, NULL);
	if (sigsetjmp(back, 1) == 0)
		record_last();
	pthread_cleanup_pop(0);
	if (strcmp(how, "survive") != 0)
		return unused;
	if (times++ % 2) /* it is seen here, or by the next record */
		require(tracepoint_synchronize_unregister() == 0, "still in a probe");
	work();
	require(tracepoint_synchronize_unregister() == 0, "in a probe again");
	return unused;
}

static void record_inside(int sig)
{
	(void)sig;
	trace_dying_inside(-4);
}

static void *be_interrupted(void *above)
{
	const stack_t stack = {.ss_sp = above, .ss_size = 1 << 16};
	const struct sigaction action = {.sa_handler = record_inside, .sa_flags = SA_ONSTACK};

	require((char *)above > (char *)&stack, "the other order");
	require(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0, "no handler");
	for (int i = 0; i < RECORDS; i++)
		trace_dying_work(++number, "some text", 1);
	return NULL;
}

static void run_below(char *above)
{
	static char stack[1 << 20] __attribute__((aligned(64)));
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	require(pthread_attr_setstack(&attributes, stack, sizeof(stack)) == 0, "no stack");
	require(pthread_create(&thread, &attributes, be_interrupted, above) == 0, "no thread");
	require(pthread_join(thread, NULL) == 0, "no end");
}

static void *live(void *unused)
{
	work();
	return unused;
}

static void run(void *(*function)(void *))
{
	pthread_t thread;

	require(pthread_create(&thread, NULL, function, NULL) == 0, "no thread");
	require(pthread_join(thread, NULL) == 0, "no end");
}

/* Pages of the process's address space. */
static long pages(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size = -1;

	require(file && fscanf(file, "%ld", &size) == 1 && fclose(file) == 0, "no /proc/self/statm");
	return size;
}

static void count(void *calls, int n)
{
	(void)n;
	++*(int *)calls;
}

/* Nobody has left a lock behind, nor is a reader for ever. */
static void all_that_there_is(void)
{
	int calls = 0;

	require(register_trace_dying_inside(count, &calls) == 0, "no registration");
	inside = 0;
	trace_dying_inside(-3);
	require(unregister_trace_dying_inside(count, &calls) == 0 && calls == 1, "no call");
	require(tracepoint_synchronize_unregister() == 0, "no grace period");
}

static void *finish(void *main_thread)
{
	if (main_thread)
		require(pthread_join(*(pthread_t *)main_thread, NULL) == 0, "no end of the main thread");
	work();
	all_that_there_is();
	printf("%d\n", number);
	exit(fflush(stdout) != 0);
}

int main(int argc, char **argv)
{
	static pthread_t self;
	pthread_t thread;
	long before = 0;

	require(argc == 4, "wrong arguments");
	char above[1 << 16];

	how = argv[1];
	inside = atoi(argv[2]);
	const int threads = atoi(argv[3]);
	if (strcmp(how, "above") == 0) {
		run_below(above);
		finish(NULL);
	}
	for (int i = 0; i < threads; i++) {
		run(die);
		run(live);
		if (i == 10)
			before = pages();
	}
	/* A thread that leaves its 256 KiB of scratch memory behind shows here. */
	if (before)
		require((pages() - before) * 4 < (threads - 10) * 64, "memory of dead threads");
	if (strcmp(how, "main") != 0)
		finish(NULL);
	self = pthread_self();
	require(pthread_create(&thread, NULL, finish, &self) == 0, "no thread");
	trace_dying_work(-1, "no more", 1);
	return 3;
}
