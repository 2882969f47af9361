# SPDX-License-Identifier: MIT
"""A site that is off is one instruction, which does nothing: seen in what the compilers make of it."""

from __future__ import annotations

import os
import re
import unittest

from support import ROOT, Case, need, tpgen

COMPILERS = ("gcc", "clang")

EVENTS = """#define TRACE_SYSTEM off
DECLARE_TRACE(one, TP_PROTO(int a, void *p), TP_ARGS(a, p));
DECLARE_TRACE(none, TP_PROTO(void), TP_ARGS());
DECLARE_TRACE(three, TP_PROTO(int a, int b, long c), TP_ARGS(a, b, c));
DECLARE_TRACE(shared, TP_PROTO(int a), TP_ARGS(a));
EXPORT_TRACEPOINT_SYMBOL(shared);
"""

# Each function twice: with what SITE says, and without.
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
SITES = {"leaf": 1, "leaf_none": 1, "leaf_shared": 1, "leaf_three": 1, "leaf_enabled": 1, "leaf_load": 1, "straight": 8}
OFF = re.compile(r"test\s+\$0x[0-9a-f]+,%eax$")


@unittest.skipUnless(os.uname().machine == "x86_64", "it reads the instructions of x86-64")
class Disabled(Case):
    def functions(self, compiler: str, *options: str) -> dict[str, list[str]]:
        """Of each function its instructions up to the return; what is out of the way comes behind."""
        need(self, compiler, "objdump")
        done = tpgen("gen", "-o", self.dir, self.write("off.tp", EVENTS))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.succeed([compiler, "-std=gnu11", "-O2", "-fcf-protection=none", "-c", "-o", self.path("off.o"), *options,
                      "-I", os.path.join(ROOT, "runtime/include"), self.write("off.c", FUNCTIONS)])
        dump = self.succeed(["objdump", "-d", "--no-show-raw-insn", self.path("off.o")]).stdout
        found = {}
        for name, body in re.findall(r"^\w+ <(\w+)>:\n((?: .*\n)+)", dump, re.M):
            lines = [line.split("\t", 1)[1].strip() for line in body.splitlines() if "\t" in line]
            if name in SITES:
                found[name] = lines[:lines.index("ret") + 1]
        return found

    def compare(self, *options: str) -> None:
        for compiler in COMPILERS:
            without = self.functions(compiler, *options)
            having = self.functions(compiler, "-DWITH", *options)
            for name, sites in SITES.items():
                with self.subTest(compiler=compiler, function=name):
                    off, rest = [], []
                    for line in having[name]:
                        (off if OFF.match(line) else rest).append(line)
                    self.assertEqual(len(off), sites, having[name])
                    # clang has one "lea" for a sum, but not across a site; the "add" that it takes then needs a "mov".
                    rest = [line.replace("add ", "lea ") for line in rest
                            if compiler == "gcc" or line != "mov    %esi,%eax"]
                    # Nothing is saved, loaded or moved for the sites: what is left is what it is without them.
                    self.assertEqual([line.split()[0] for line in rest], [line.split()[0] for line in without[name]])

    def test_one_instruction(self) -> None:
        self.compare()

    def test_position_independent(self) -> None:
        self.compare("-fPIC")

    def test_five_bytes(self) -> None:
        """As many bytes as a jump, so that one byte of it is changed: the operation."""
        self.functions("gcc", "-DWITH")
        dump = self.succeed(["objdump", "-d", self.path("off.o")]).stdout
        codes = re.findall(r"\t((?:[0-9a-f]{2} )+) *\ttest +\$", dump)
        self.assertTrue(codes)
        self.assertEqual({(len(code.split()), code.split()[0]) for code in codes}, {(5, "a9")})

    def test_without_static_keys(self) -> None:
        """A load and a branch, and no table of sites."""
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                for lines in self.functions(compiler, "-DWITH", "-DTP_STATIC_KEYS=0").values():
                    self.assertFalse([line for line in lines if OFF.match(line)])
                self.assertNotIn("tp_sites", self.succeed(["objdump", "-h", self.path("off.o")]).stdout)

