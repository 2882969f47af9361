# SPDX-License-Identifier: MIT
"""A marker that is off is one instruction, which does nothing, as a tracepoint is."""

from __future__ import annotations

import os
import re
import unittest

from support import ROOT, Case, need

# Each function twice: with what SITE says, and without.
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
OFF = re.compile(r"test\s+\$0x[0-9a-f]+,%eax$")


@unittest.skipUnless(os.uname().machine == "x86_64", "it reads the instructions of x86-64")
class Disabled(Case):
    def functions(self, compiler: str, *options: str) -> dict[str, list[str]]:
        """Of each function its instructions up to the return; what is out of the way comes behind."""
        need(self, compiler, "objdump")
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
        for compiler in ("gcc", "clang"):
            without = self.functions(compiler, *options)
            having = self.functions(compiler, "-DWITH", *options)
            for name, sites in SITES.items():
                with self.subTest(compiler=compiler, function=name):
                    off = [line for line in having[name] if OFF.match(line)]
                    self.assertEqual(len(off), sites, having[name])
                    # clang has one "lea" for a sum, but not across a site; the "add" that it takes then needs a "mov".
                    rest = [line.replace("add ", "lea ").split()[0] for line in having[name]
                            if not OFF.match(line) and (compiler == "gcc" or line != "mov    %esi,%eax")]
                    self.assertEqual(rest, [line.split()[0] for line in without[name]])

    def test_one_instruction(self) -> None:
        self.compare()

    def test_position_independent(self) -> None:
        self.compare("-fPIC")
