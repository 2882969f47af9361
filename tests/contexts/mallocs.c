/* SPDX-License-Identifier: MIT */
/*
 * mallocs.c - lessons of a malloc that hits a tracepoint each time, with
 * nothing to keep it from hitting it in itself: "mallocs NAME".
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "lessons.h"

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

void *malloc(size_t size)
{
	trace_lessons_malloc(size);
	return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
	trace_lessons_malloc(number * size);
	return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
	trace_lessons_malloc(size);
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	trace_lessons_malloc(0);
	__libc_free(memory);
}

int lessons_fn_reg(void)
{
	return 0;
}

void lessons_fn_unreg(void)
{
}

static bool stop;
static unsigned long calls;

static void count(void *data, size_t size)
{
	(void)data;
	(void)size;
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* Through a volatile pointer, lest the compiler leave the pair out. */
static void *volatile memory_of_threads;

static void *allocate(void *unused)
{
	for (int i = 0; i < 20; i++) {
		void *memory = malloc(64);
		memory_of_threads = memory;
		free(memory);
	}
	return unused;
}

static void run_threads(int nr)
{
	for (int i = 0; i < nr; i++) {
		pthread_t thread;
		CHECK(pthread_create(&thread, NULL, allocate, NULL) == 0);
		pthread_join(thread, NULL);
	}
}

/* A thread's first hit is in malloc; and its last in free, after all destructors. */
static void first_hit(void)
{
	CHECK(register_trace_lessons_malloc(count, NULL) == 0);
	run_threads(50);
	CHECK(calls >= 50 * 40);
	CHECK(unregister_trace_lessons_malloc(count, NULL) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
}

/* ---- A probe in malloc that registers and removes probes ---- */

static void other(void *data, unsigned long n)
{
	(void)data;
	(void)n;
}

static __thread char data_of_thread;
static __thread int changes;

/* It leaves behind what is freed later, and that calls it again: so not for ever. */
static void change(void *data, size_t size)
{
	TP_LIMIT_RECURSION(1);
	(void)data;
	(void)size;
	if (changes++ >= 500)
		return;
	CHECK(register_trace_lessons_bare(other, &data_of_thread) == 0);
	CHECK(register_trace_lessons_malloc(count, &data_of_thread) == 0);
	CHECK(unregister_trace_lessons_bare(other, &data_of_thread) == 0);
	CHECK(unregister_trace_lessons_malloc(count, &data_of_thread) == 0);
}

static void *go_on_allocating(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		allocate(NULL);
	return unused;
}

static void all_over(void)
{
	char data;

	CHECK(register_trace_lessons_malloc(count, &data) == 0);
	CHECK(unregister_trace_lessons_malloc(count, &data) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
}

static void registers(void)
{
	pthread_t threads[2];

	CHECK(register_trace_lessons_malloc(change, NULL) == 0);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, go_on_allocating, NULL);
	for (int i = 0; i < 200; i++)
		all_over();
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			alarm(600);
			all_over();
			exit(0);
		}
		int status = -1;
		waitpid(pid, &status, 0);
		CHECK(status == 0);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	CHECK(unregister_trace_lessons_malloc(change, NULL) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
}

/* TP_ENABLE does the rest. */
static void records(void)
{
	run_threads(50);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "first_hit") == 0)
		first_hit();
	else if (argc == 2 && strcmp(argv[1], "registers") == 0)
		registers();
	else if (argc == 2 && strcmp(argv[1], "records") == 0)
		records();
	else
		return 2;
	return 0;
}
