# SPDX-License-Identifier: MIT
"""A site that is off is one instruction, which does nothing: seen in what the compilers make of it."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import disabled  # noqa: E402
from building import generate  # noqa: E402

EVENTS = """#define TRACE_SYSTEM off
DECLARE_TRACE(one, TP_PROTO(int a, void *p), TP_ARGS(a, p));
DECLARE_TRACE(none, TP_PROTO(void), TP_ARGS());
DECLARE_TRACE(three, TP_PROTO(int a, int b, long c), TP_ARGS(a, b, c));
DECLARE_TRACE(real, TP_PROTO(double a, int b, float c), TP_ARGS(a, b, c));
DECLARE_TRACE(seven, TP_PROTO(int a, double b, float c, int d, int e, double f, int g), TP_ARGS(a, b, c, d, e, f, g));
DECLARE_TRACE(shared, TP_PROTO(int a), TP_ARGS(a));
EXPORT_TRACEPOINT_SYMBOL(shared);
"""

FUNCTIONS = """#include "off.h"

#ifdef WITH
#define SITE(call) call
#else
#define SITE(call) (void)0
#endif

int leaf(int a, int b)
{
	SITE(trace_one(a, NULL));
	return a + b;
}

int leaf_none(int a, int b)
{
	SITE(trace_none());
	return a + b;
}

int leaf_shared(int a, int b)
{
	SITE(trace_shared(a));
	return a + b;
}

int leaf_three(int a, int b)
{
	SITE(trace_three(a, b, 1));
	return a + b;
}

int leaf_real(int a, int b)
{
	SITE(trace_real(1.5, b, 2.5f));
	return a + b;
}

int leaf_seven(int a, int b)
{
	SITE(trace_seven(a, 2.5, 3, 4, 5, 6, 7));
	return a + b;
}

int leaf_enabled(int a, int b)
{
	SITE(if (trace_one_enabled()) trace_none());
	return a + b;
}

int leaf_load(int *p, int a)
{
	SITE(trace_one(a, p));
	return *p;
}

void straight(volatile int *p)
{
	SITE(trace_one(1, NULL));
	p[0] = 1;
	SITE(trace_none());
	p[1] = 2;
	SITE(trace_one(2, NULL));
	p[2] = 3;
	SITE(trace_shared(3));
	SITE(trace_one(4, NULL));
	p[3] = 4;
	SITE(trace_three(5, 6, 7));
	SITE(trace_none());
	p[4] = 5;
	SITE(trace_one(5, NULL));
}
"""
SITES = {"leaf": 1, "leaf_none": 1, "leaf_shared": 1, "leaf_three": 1, "leaf_real": 1, "leaf_seven": 1,
         "leaf_enabled": 1, "leaf_load": 1, "straight": 8}


class Tracepoints(disabled.Disabled):
    SOURCE, SITES = FUNCTIONS, SITES

    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, self.write("off.tp", EVENTS))

    def test_five_bytes(self) -> None:
        """As many bytes as a jump, so that one byte of it is changed: the operation."""
        self.functions("gcc", "-DWITH")
        dump = self.succeed(["objdump", "-d", self.path("off.o")]).stdout
        codes = re.findall(r"\t((?:[0-9a-f]{2} )+) *\ttest +\$", dump)
        self.assertTrue(codes)
        self.assertEqual({(len(code.split()), code.split()[0]) for code in codes}, {(5, "a9")})

    def test_without_static_keys(self) -> None:
        """A load and a branch, and no table of sites."""
        for compiler in disabled.COMPILERS:
            with self.subTest(compiler=compiler):
                for lines in self.functions(compiler, "-DWITH", "-DTP_STATIC_KEYS=0").values():
                    self.assertFalse([line for line in lines if disabled.OFF.match(line)])
                self.assertNotIn("tp_sites", self.succeed(["objdump", "-h", self.path("off.o")]).stdout)
