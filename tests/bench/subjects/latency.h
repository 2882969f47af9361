/* SPDX-License-Identifier: MIT */
/* Ours, a begin and its end, which the environment has to have enabled. */
#define CREATE_TRACE_POINTS
#include "pair.h"

static MAY_BE_UNUSED void prepare(int unused)
{
	(void)unused;
	if (!trace_pair_begin_enabled() || !trace_pair_end_enabled())
		fail("our events are not enabled");
}
#define PREPARE(argument) prepare(argument)

#define HIT(number, id, name)                                             \
	do {                                                              \
		trace_pair_begin((uint32_t)(number) & 1023);              \
		trace_pair_end((uint32_t)(number) & 1023);                \
	} while (0)
