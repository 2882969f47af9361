/* SPDX-License-Identifier: MIT */
/*
 * moments.c - lessons of when: registration, removal and waiting before main(),
 * after it, where threads end, and inside probes.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "lessons.h"

/* ---- Before main(), and after it ---- */

static unsigned int moments;

/* Perhaps before this program's tracepoints are announced. */
static void __attribute__((constructor(101))) first_constructor(void)
{
	if (!lesson_is("constructors"))
		return;
	all_that_there_is(false);
	moments++;
}

static void __attribute__((constructor)) constructor(void)
{
	if (!lesson_is("constructors"))
		return;
	all_that_there_is(true);
	moments++;
}

void lesson_constructors(void)
{
	CHECK(moments == 2);
	all_that_there_is(true);
}

static void __attribute__((destructor)) destructor(void)
{
	if (lesson_is("destructors"))
		all_that_there_is(true);
}

/* Perhaps they are gone. */
static void __attribute__((destructor(101))) last_destructor(void)
{
	if (lesson_is("destructors"))
		all_that_there_is(false);
}

void lesson_destructors(void)
{
	all_that_there_is(true);
}

static void at_exit(void)
{
	all_that_there_is(true);
}

void lesson_atexit_handlers(void)
{
	atexit(at_exit);
	all_that_there_is(true);
	atexit(at_exit);
}

/* ---- Where a thread ends ---- */

static pthread_key_t key;
static unsigned long rounds;

static void thread_ends(void *left)
{
	all_that_there_is(true);
	rounds++;
	if ((uintptr_t)left > 1)
		pthread_setspecific(key, (void *)((uintptr_t)left - 1));
}

static void *end(void *first_use)
{
	if (first_use)
		all_that_there_is(true);
	pthread_setspecific(key, (void *)(uintptr_t)10); /* as often as there are rounds */
	return NULL;
}

void lesson_thread_exit(void)
{
	pthread_t thread;

	pthread_key_create(&key, thread_ends);
	for (int i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, end, i % 2 ? &key : NULL);
		pthread_join(thread, NULL);
	}
	CHECK(rounds == 20 * PTHREAD_DESTRUCTOR_ITERATIONS);
	all_that_there_is(true);
}

/* ---- Inside probes ---- */

static void count(void *calls, unsigned long n)
{
	*(unsigned long *)calls += n;
}

static void count_other(void *calls, int n)
{
	*(unsigned long *)calls += (unsigned int)n;
}

static unsigned long added, other;

static void change(void *data, unsigned long n)
{
	(void)n;
	CHECK(unregister_trace_lessons_bare(change, data) == 0);
	CHECK(unregister_trace_lessons_bare(change, data) == -ENOENT);
	CHECK(register_trace_lessons_bare(count, &added) == 0);
	CHECK(register_trace_lessons_bare(count, &added) == -EEXIST);
	CHECK(register_trace_lessons_hit(count_other, &other) == 0);
	trace_lessons_hit(1);
	CHECK(other == 1);
	CHECK(tracepoint_synchronize_unregister() == -EDEADLK);
	CHECK(unregister_trace_lessons_hit(count_other, &other) == 0);
	trace_lessons_hit(1);
	CHECK(other == 1);
	trace_lessons_bare(1); /* the one that it has added */
	CHECK(added == 1);
	CHECK(unregister_trace_lessons_bare(count, &added) == 0); /* the last */
	CHECK(!trace_lessons_bare_enabled());
	CHECK(register_trace_lessons_bare(count, &added) == 0);
}

void lesson_inside_a_probe(void)
{
	CHECK(register_trace_lessons_bare(change, NULL) == 0);
	trace_lessons_bare(1);
	CHECK(added == 1);
	trace_lessons_bare(1);
	CHECK(added == 2);
	CHECK(unregister_trace_lessons_bare(count, &added) == 0);
	CHECK(tracepoint_synchronize_unregister() == 0);
}

/* ---- Recursion ---- */

/* Volatile: raise() is declared such that the compiler need not expect a handler to read them. */
static volatile unsigned long unlimited_calls, once_calls, thrice_calls;

static void unlimited(void *data, unsigned long left)
{
	(void)data;
	unlimited_calls++;
	if (left)
		trace_lessons_bare(left - 1);
}

static void once(void *data, unsigned long left)
{
	TP_LIMIT_RECURSION(1);
	(void)data;
	once_calls++;
	if (left)
		trace_lessons_bare(left - 1);
}

static void thrice(void *data, unsigned long left)
{
	TP_LIMIT_RECURSION(3);
	(void)data;
	thrice_calls++;
	if (!left)
		return;
	trace_lessons_bare(left - 1);
}

void lesson_recursion(void)
{
	CHECK(register_trace_lessons_bare(unlimited, NULL) == 0);
	trace_lessons_bare(99);
	CHECK(unlimited_calls == 100);
	CHECK(unregister_trace_lessons_bare(unlimited, NULL) == 0);

	CHECK(register_trace_lessons_bare(once, NULL) == 0);
	for (unsigned long i = 1; i < 4; i++) {
		trace_lessons_bare(99);
		CHECK(once_calls == i);
	}
	CHECK(unregister_trace_lessons_bare(once, NULL) == 0);

	CHECK(register_trace_lessons_bare(thrice, NULL) == 0);
	trace_lessons_bare(99);
	CHECK(thrice_calls == 3);
	trace_lessons_bare(1);
	CHECK(thrice_calls == 5);
	trace_lessons_bare(99);
	CHECK(thrice_calls == 8);

	/* Each has its own limit. A hit calls both, and each hits again where it may. */
	once_calls = thrice_calls = 0;
	CHECK(register_trace_prio_lessons_bare(once, NULL, 20) == 0);
	trace_lessons_bare(99);
	CHECK(once_calls > 1 && thrice_calls > 3);
	CHECK(unregister_trace_lessons_bare(once, NULL) == 0);
	CHECK(unregister_trace_lessons_bare(thrice, NULL) == 0);
}

static volatile bool interrupt;

static void hit_in_handler(int signal)
{
	(void)signal;
	trace_lessons_bare(0);
}

static void once_interrupted(void *data, unsigned long n)
{
	TP_LIMIT_RECURSION(1);
	(void)data;
	(void)n;
	once_calls++;
	if (interrupt)
		raise(SIGUSR1);
}

static void *hit_once(void *unused)
{
	trace_lessons_bare(0);
	return unused;
}

/* Another thread is not the same thread. */
static void once_each_thread(void *data, unsigned long n)
{
	TP_LIMIT_RECURSION(1);
	(void)data;
	once_calls++;
	if (n) {
		pthread_t thread;
		pthread_create(&thread, NULL, hit_once, NULL);
		pthread_join(thread, NULL);
	}
}

void lesson_recursion_in_handlers(void)
{
	signal(SIGUSR1, hit_in_handler);
	CHECK(register_trace_lessons_bare(once_interrupted, NULL) == 0);
	for (int i = 0; i < 2; i++) {
		once_calls = 0;
		interrupt = true;
		trace_lessons_bare(0);
		CHECK(once_calls == 1);
		interrupt = false;
		raise(SIGUSR1);
		CHECK(once_calls == 2);
	}
	CHECK(unregister_trace_lessons_bare(once_interrupted, NULL) == 0);

	once_calls = 0;
	CHECK(register_trace_lessons_bare(once_each_thread, NULL) == 0);
	trace_lessons_bare(1);
	CHECK(once_calls == 2);
	CHECK(unregister_trace_lessons_bare(once_each_thread, NULL) == 0);
}

/* ---- A regfunc whose error is that of a probe that is there already ---- */

static int reg_result;

int lessons_fn_reg(void)
{
	return reg_result;
}

void lessons_fn_unreg(void)
{
}

/* tp_enable() must not take it for a writer that is registered: it is off, and that is said (in one line on stderr). */
void lesson_regfunc_says_exists(void)
{
	FILE *file = tmpfile();
	struct tp_sink *sink = tp_text_sink(file);

	reg_result = -EEXIST;
	CHECK(tp_enable(sink, "lessons_fn") == 0);
	CHECK(!trace_lessons_fn_enabled());
	reg_result = 0;
	CHECK(tp_enable(sink, "lessons_fn") == 1);
	trace_lessons_fn(1);
	CHECK(tp_sink_close(sink) == 0);
	CHECK(ftell(file) > 0);
	fclose(file);
}
