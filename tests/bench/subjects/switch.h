/* SPDX-License-Identifier: MIT */
/*
 * Ours: sites are switched on. The argument says which: 1 the only site of a
 * tracepoint, 2 the many sites of one, 3 those of as many tracepoints, through
 * tp_enable() of a sink that takes nothing. core.py makes switched.tp, and
 * switched_sites.h, which hits each of those once.
 */
#define CREATE_TRACE_POINTS
#include "switched.h"

#include <tp/sink.h>
#include <tp/tp.h>

/* They are switched, but never hit. */
void sites(uint64_t number);
NOINLINE void sites(uint64_t number)
{
	trace_switched_one(number);
	SITES(trace_switched_same(number));
#include "switched_sites.h"
}

static bool reserve_nothing(struct tp_record *rec)
{
	(void)rec;
	return false;
}

static void commit_nothing(struct tp_record *rec)
{
	(void)rec;
}

static int close_nothing(struct tp_sink *sink)
{
	(void)sink;
	return 0;
}

static const struct tp_sink_ops ops = {
	.name = "nothing", .reserve = reserve_nothing, .commit = commit_nothing, .close = close_nothing,
};
static struct tp_sink sink;
static int what;

static void prepare(int argument)
{
	what = argument;
	if (what == 3 && tp_sink_open(&sink, &ops) != 0)
		fail("a sink can't be had");
}
#define PREPARE(argument) prepare(argument)

static void probe(void *data, uint64_t number)
{
	empty_probe(data, number, 0, NULL);
}

static void switch_on(void)
{
	bool done;

	if (what == 1)
		done = register_trace_switched_one(probe, NULL) == 0;
	else if (what == 2)
		done = register_trace_switched_same(probe, NULL) == 0;
	else
		done = tp_enable(&sink, "switched:switched_each_*") > 0;
	if (!done)
		fail("the sites can't be switched on");
}
#define HIT(number, id, name) ((void)(number), switch_on())

static void switch_off(void)
{
	if (what == 1)
		unregister_trace_switched_one(probe, NULL);
	else if (what == 2)
		unregister_trace_switched_same(probe, NULL);
	else
		tp_disable(&sink, "switched:*");
	tracepoint_synchronize_unregister();
}
#define UNDO() switch_off()
