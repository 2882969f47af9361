# SPDX-License-Identifier: MIT
"""Compares functions whose sites are off with the same functions without sites, in what the compilers make of them."""

from __future__ import annotations

import os
import re
import unittest

from support import ROOT, Case, need

COMPILERS = ("gcc", "clang")
OFF = re.compile(r"test\s+\$0x[0-9a-f]+,%eax$")


@unittest.skipUnless(os.uname().machine == "x86_64", "it reads the instructions of x86-64")
class Disabled(Case):
    SOURCE = ""  # each function twice: with what SITE says where WITH is defined, and without
    SITES: dict[str, int] = {}  # of each function

    def functions(self, compiler: str, *options: str) -> dict[str, list[str]]:
        """Of each function its instructions up to the return; what is out of the way comes behind."""
        need(self, compiler, "objdump")
        self.succeed([compiler, "-std=gnu11", "-O2", "-fcf-protection=none", "-c", "-o", self.path("off.o"), *options,
                      "-I", os.path.join(ROOT, "runtime/include"), "-I", self.dir, self.write("off.c", self.SOURCE)])
        dump = self.succeed(["objdump", "-d", "--no-show-raw-insn", self.path("off.o")]).stdout
        found = {}
        for name, body in re.findall(r"^\w+ <(\w+)>:\n((?: .*\n)+)", dump, re.M):
            lines = [line.split("\t", 1)[1].strip() for line in body.splitlines() if "\t" in line]
            if name in self.SITES:
                found[name] = lines[:lines.index("ret") + 1]
        return found

    def compare(self, *options: str) -> None:
        for compiler in COMPILERS:
            without = self.functions(compiler, *options)
            having = self.functions(compiler, "-DWITH", *options)
            for name, sites in self.SITES.items():
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
