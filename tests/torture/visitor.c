/* SPDX-License-Identifier: MIT */
/* visitor.c - a module with sites, also in its constructor and its destructor. */
#define CREATE_TRACE_POINTS
#include "visitor.h"

#include "modules.h"

void visitor_hit(enum point point, unsigned long a, unsigned long b)
{
	unsigned long check = checksum(point, a, b);

	if (point == POINT_visitor_cond)
		trace_visitor_cond(a, b, check);
	else if (trace_visitor_plain_enabled())
		trace_visitor_plain(a, b, check);
}

static void hit_both(unsigned long b)
{
	visitor_hit(POINT_visitor_plain, argument(PLAIN_HIT, 1), b);
	visitor_hit(POINT_visitor_cond, argument(PLAIN_HIT, 2), b);
}

static void __attribute__((constructor)) come(void)
{
	hit_both(1);
}

static void __attribute__((destructor)) go(void)
{
	hit_both(3);
}
