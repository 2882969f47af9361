// SPDX-License-Identifier: MIT
/*
 * Hits sites round after round, for tools that look at it from outside: as many
 * rounds as its argument says, or, without one, until its standard input ends.
 * Every second hundred rounds it listens itself, and sees whether it was told of each.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tp/marker.h>
#include <tp/tp.h>

#define CREATE_TRACE_POINTS
#include "widths.h"

static const char text[] = "hello";
static const int array[2] = {11, 12};
static unsigned long heard;

static void listen(void *data, uint32_t n, int32_t s32, uint32_t u32, int64_t s64, uint64_t u64, const char *t,
		   void (*func)(void), const int *a)
{
	(void)data, (void)n;
	heard += s32 == -32 && u32 == 0xfffffff0u && s64 == -64 && u64 == UINT64_MAX - 64 && t == text && !func &&
		 a == array;
}

/* A leaf function with variables in memory: what is probed in it must leave them alone. */
static __attribute__((noinline)) long leaf(long n)
{
	volatile long first = n, second = n;

	trace_none();
	return first + second;
}

static void round_of(uint32_t n)
{
	trace_narrow(n, -8, 0xf8, -16, 0xfff0, true, 'J', BLUE, LEFT);
	trace_wide(n, -32, 0xfffffff0u, -64, UINT64_MAX - 64, text, NULL, array);
	trace_even(n, text);
	trace_mark(tick, "n %u text %s other %s", n, "a text", text);
	trace_mark(tock, "n %d", -1);
	if (leaf(n) != 2L * n) {
		puts("variables have changed");
		exit(1);
	}
}

static void rare(void)
{
	trace_left_out(-1, 2.5, pair_of(1), -1000000000000, 1.5f, 3.5L, -3);
	trace_fourteen(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
}

static bool goes_on(unsigned long done, unsigned long wanted)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	if (wanted)
		return done < wanted;
	return poll(&input, 1, 0) == 0;
}

int main(int argc, char **argv)
{
	unsigned long wanted = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long done = 0, expected = 0;

	rare();
	for (; goes_on(done, wanted); done++) {
		bool on = done / 100 % 2;
		if (done % 100 == 0)
			on ? register_trace_wide(listen, NULL) : unregister_trace_wide(listen, NULL);
		round_of((uint32_t)done);
		expected += on;
		if (!wanted)
			usleep(500);
	}
	printf("%lu rounds, heard %lu of %lu\n", done, heard, expected);
	return heard != expected;
}
