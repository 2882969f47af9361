/* SPDX-License-Identifier: MIT */
/* Functions that are alike but for whose sites they have. Says which of them are on, for each tracepoint. */
#include <stdio.h>

#define CREATE_TRACE_POINTS
#include "folded.h"
#undef CREATE_TRACE_POINTS

static volatile int hits;

#define FUNCTIONS(name)                                                          \
	static __attribute__((noinline)) int asks_##name(int n)                  \
	{                                                                        \
		return trace_##name##_enabled() ? n + 5 : n;                     \
	}                                                                        \
	static __attribute__((noinline)) int hits_##name(int n)                  \
	{                                                                        \
		trace_##name(n);                                                 \
		return n;                                                        \
	}                                                                        \
	static int is_on_##name(int hits_before)                                 \
	{                                                                        \
		hits_##name(1);                                                  \
		return 2 * (hits != hits_before) + (asks_##name(0) != 0);        \
	}

FUNCTIONS(folded_a)
FUNCTIONS(folded_b)
FUNCTIONS(folded_c)
FUNCTIONS(folded_d)

static void on_hit(void *data, int n)
{
	(void)data;
	hits += n;
}

static void say(void)
{
	printf("%d%d%d%d\n", is_on_folded_a(hits), is_on_folded_b(hits), is_on_folded_c(hits), is_on_folded_d(hits));
}

#define SWITCH(name)                                                                       \
	do {                                                                               \
		if (register_trace_##name(on_hit, NULL) == 0)                              \
			say();                                                             \
		unregister_trace_##name(on_hit, NULL);                                     \
	} while (0)

int main(void)
{
	say();
	SWITCH(folded_a);
	SWITCH(folded_b);
	SWITCH(folded_c);
	SWITCH(folded_d);
	return 0;
}
