/* SPDX-License-Identifier: MIT */
/* test_stack.c - the return addresses of a thread, wherever it is. */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/stack.h"
#include "util.h"

#define MOST 64

static uintptr_t taken[MOST];
static unsigned int nr_taken;

/* In these functions, asm behind the last call keeps it from becoming a jump. */

static __attribute__((noinline)) void take(void)
{
	nr_taken = tp_stack_take(taken, MOST, 0);
	__asm__ volatile("");
}

static __attribute__((noinline)) void take_below(unsigned int depth)
{
	if (depth)
		take_below(depth - 1);
	else
		take();
	__asm__ volatile("");
}

/* Whether the address is in the function, which is short. */
static bool is_in_function(uintptr_t address, uintptr_t function)
{
	return address - function < 512;
}

static bool has_function(uintptr_t function)
{
	for (unsigned int i = 0; i < nr_taken; i++) {
		if (is_in_function(taken[i], function))
			return true;
	}
	return false;
}

#define is_in(address, function) is_in_function((address), (uintptr_t)(function))
#define has(function) has_function((uintptr_t)(function))

static void start(void)
{
	ck_assert(tp_stack_start());
}

FIXTURE(start, NULL)

TEST(innermost_comes_first)
{
	take_below(1);
	ck_assert_uint_ge(nr_taken, 4);
	ck_assert(is_in(taken[0], take));
	ck_assert(is_in(taken[1], take_below));
	for (unsigned int i = 0; i < nr_taken; i++)
		ck_assert_uint_ne(taken[i], 0);
}

/* Such a test calls itself first: the functions behind it, which are check's, may be compiled without tables. */
static __attribute__((noinline)) void skip_some(unsigned int depth)
{
	uintptr_t all[MOST], fewer[MOST];

	if (depth) {
		skip_some(depth - 1);
		__asm__ volatile("");
		return;
	}
	const unsigned int nr_all = tp_stack_take(all, MOST, 0);
	const unsigned int nr_fewer = tp_stack_take(fewer, MOST, 1);

	ck_assert_uint_ge(nr_all, 2);
	ck_assert_uint_eq(nr_fewer, nr_all - 1);
	ck_assert_mem_eq(fewer, all + 1, nr_fewer * sizeof(all[0]));
	ck_assert_uint_eq(tp_stack_take(all, MOST, 100000), 0);
}

TEST(some_are_skipped)
{
	skip_some(3);
}

/* Nothing is written behind the last. */
static __attribute__((noinline)) void ask_for_few(unsigned int depth)
{
	if (depth) {
		ask_for_few(depth - 1);
		__asm__ volatile("");
		return;
	}
	for (unsigned int max = 0; max < 4; max++) {
		uintptr_t to[5] = {1, 1, 1, 1, 1};
		ck_assert_uint_eq(tp_stack_take(to, max, 0), max);
		for (unsigned int i = max; i < 5; i++)
			ck_assert_uint_eq(to[i], 1);
	}
}

TEST(no_more_than_asked_for)
{
	ask_for_few(4);
}

TEST(deep_stacks_are_cut)
{
	take_below(10000);
	ck_assert_uint_eq(nr_taken, MOST);
	ck_assert(is_in(taken[MOST - 1], take_below));
}

/* ---- Odd stacks ---- */

static void handle(int signal)
{
	(void)signal;
	take();
	__asm__ volatile("");
}

static __attribute__((noinline)) void interrupted(void)
{
	raise(SIGUSR1);
	__asm__ volatile("");
}

/* Behind the handler are the interrupted functions, on the thread's own stack. */
LOOP_TEST(signal_handler, 2)
{
	static char stack[64 << 10];
	const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};

	if (_i)
		ck_assert_int_eq(sigaltstack(&alternative, NULL), 0);
	struct sigaction action = {.sa_handler = handle, .sa_flags = _i ? SA_ONSTACK : 0};
	sigaction(SIGUSR1, &action, NULL);
	interrupted();
	ck_assert(is_in(taken[0], take));
	ck_assert(is_in(taken[1], handle));
#ifdef __GLIBC__ /* musl's handlers return to code that no table describes */
	ck_assert(has(interrupted));
#endif
}

#ifdef __GLIBC__ /* musl has no such functions */

static ucontext_t main_context, coroutine;

static void in_coroutine(void)
{
	take();
	swapcontext(&coroutine, &main_context);
}

/* It ends where the coroutine began. */
TEST(coroutine_of_the_c_library)
{
	static char stack[64 << 10];

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	makecontext(&coroutine, in_coroutine, 0);
	swapcontext(&main_context, &coroutine);
	ck_assert(is_in(taken[0], take));
	ck_assert(is_in(taken[1], in_coroutine));
	ck_assert_uint_le(nr_taken, 4);
}

#endif

static void *in_thread(void *data)
{
	take_below(3);
	return data;
}

TEST(smallest_thread)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)(under_sanitizer() ? 8 : 1) * (size_t)PTHREAD_STACK_MIN);
	ck_assert_int_eq(pthread_create(&thread, &attributes, in_thread, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert(is_in(taken[0], take));
	ck_assert(has(in_thread));
}
