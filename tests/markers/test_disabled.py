# SPDX-License-Identifier: MIT
"""A marker that is off is one instruction, which does nothing, as a tracepoint is."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "sites"))

import disabled  # noqa: E402

FUNCTIONS = """#include <tp/marker.h>

#ifdef WITH
#define SITE(...) trace_mark(__VA_ARGS__)
#else
#define SITE(...) (void)0
#endif

int leaf(int a, int b)
{
	SITE(leaf, "a %d b %d", a, b);
	return a + b;
}

int leaf_none(int a, int b)
{
	SITE(none, MARK_NOARGS);
	return a + b;
}

int leaf_three(int a, int b)
{
	SITE(three, "%d %s %ld", a, "text", 1L);
	return a + b;
}

int leaf_load(int *p, int a)
{
	SITE(load, "%d %p", a, (void *)p);
	return *p;
}

void straight(volatile int *p)
{
	SITE(one, "%d", 1);
	p[0] = 1;
	SITE(two, "%d", 2);
	p[1] = 2;
	SITE(one, "%d", 3);
	p[2] = 3;
	SITE(four, "%d %d %d %d", 1, 2, 3, 4);
	p[3] = 4;
	SITE(five, "%d %d %d %d %s", 1, 2, 3, 4, "five");
}
"""
SITES = {"leaf": 1, "leaf_none": 1, "leaf_three": 1, "leaf_load": 1, "straight": 5}


class Markers(disabled.Disabled):
    SOURCE, SITES = FUNCTIONS, SITES
