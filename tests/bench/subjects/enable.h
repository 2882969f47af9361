/* SPDX-License-Identifier: MIT */
/*
 * Ours: the argument says what is timed: 1 that all events are enabled in a CTF sink, 2 that the sink is opened.
 * record.py makes many.tp, and many_sites.h, which hits each of its events once.
 */
#define CREATE_TRACE_POINTS
#include "many.h"

#include <tp/tp.h>

/* They are switched, but never hit. */
void sites(uint64_t number, uint32_t id, const char *name);
NOINLINE void sites(uint64_t number, uint32_t id, const char *name)
{
#include "many_sites.h"
}

static struct tp_sink *sink;
static bool is_opening;

static void open_sink(void)
{
	sink = tp_ctf_sink("shm/trace", NULL);
	if (!sink)
		fail("a CTF sink can't be had");
}

static void prepare(int argument)
{
	is_opening = argument == 2;
	if (!is_opening)
		open_sink();
}
#define PREPARE(argument) prepare(argument)

static void enable_all(void)
{
	if (tp_enable(sink, "*") <= 0)
		fail("the events can't be enabled");
}
#define HIT(number, id, name) ((void)(number), is_opening ? open_sink() : enable_all())
