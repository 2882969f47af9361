/* SPDX-License-Identifier: MIT */
/*
 * Records what tests/arch/words.tp says.
 *
 *	words         hits each event for each number, and ends
 *	words wait    first waits until somebody has enabled an event; and hits until it is off again
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tp/control.h>

#define CREATE_TRACE_POINTS
#include "words.h"

static const long numbers[] = {0, 3, -1, 0x7fffffff, -0x7fffffff - 1};

static void hit_all(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		trace_words_fields(numbers[i], (const void *)0xdeadbeef);
		trace_words_widths(~0ul - i);
	}
}

static void pause_a_moment(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		hit_all();
		return 0;
	}
	while (!trace_words_fields_enabled())
		pause_a_moment();
	while (trace_words_fields_enabled()) {
		hit_all();
		pause_a_moment();
	}
	return strcmp(argv[1], "wait") != 0;
}
