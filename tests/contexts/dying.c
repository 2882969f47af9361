/* SPDX-License-Identifier: MIT */
/*
 * dying.c - "dying HOW INSIDE THREADS": each of the threads records RECORDS times, and then ends inside
 * TP_fast_assign; one that comes after it records as often. What is recorded has a number, from 1 on; what can't be,
 * a negative one.
 *
 *	exit      by pthread_exit()
 *	cancel    is cancelled
 *	jump      by longjmp(), and then ends
 *	main      as exit, but the main thread ends so, too
 *
 * INSIDE records are made inside that one, before it ends, and a thread that is cancelled makes one more as it goes.
 */
#define CREATE_TRACE_POINTS
#include "dying.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tp/tp.h>

#define RECORDS 20

static const char *how;
static int inside;
static int number;
static jmp_buf back;

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
	for (int i = 0; i < inside; i++)
		trace_dying_inside(-1);
	if (strcmp(how, "jump") == 0)
		longjmp(back, 1);
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

/* Where the sink makes no record of the event, the thread ends here. */
static void *die(void *unused)
{
	work();
	pthread_cleanup_push(say_last_words, NULL);
	if (setjmp(back) == 0)
		trace_dying_work(-1, "no more", 1);
	pthread_cleanup_pop(0);
	return unused;
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
	how = argv[1];
	inside = atoi(argv[2]);
	const int threads = atoi(argv[3]);
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
