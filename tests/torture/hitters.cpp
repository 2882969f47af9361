// SPDX-License-Identifier: MIT
// hitters.cpp - the call sites in C++, some in copies of one inline function.
#include "torture.h"

#include "points.h"

template <int point> static inline void hit_in_copy(unsigned long a, unsigned long b, unsigned long check)
{
	if (point & 1)
		trace_torture_plain(a, b, check);
	else
		trace_torture_bare(a, b, check);
}

void hit_from_cxx(enum point point, unsigned long a, unsigned long b, unsigned long check)
{
	switch (point) {
	case POINT_torture_plain:
		hit_in_copy<1>(a, b, check);
		break;
	case POINT_torture_bare:
		hit_in_copy<0>(a, b, check);
		break;
	case POINT_torture_cond:
		if (trace_torture_cond_enabled())
			trace_torture_cond(a, b, check);
		break;
	case POINT_torture_fn:
		trace_torture_fn(a, b, check);
		break;
	case POINT_torture_malloc:
		trace_torture_malloc(a, b, check);
		break;
	default:
		break;
	}
}
