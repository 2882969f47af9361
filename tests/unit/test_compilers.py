# SPDX-License-Identifier: MIT
"""The short way of a record, as another compiler makes it, keeps its order against signal handlers.

clang 14 moves loads past a fence for signals: with AddressSanitizer, the position was read after the clock, and times
went backwards where a handler came between them.
"""

from __future__ import annotations

import os
import platform
import unittest

from support import BUILD, ROOT, RUNTIME_INCLUDES, RUNTIME_SOURCES, Case, need, run

CHECK_ALL = "each instruction, of another compiler"
OBJECTS = os.path.join(BUILD, "obj")
SHORT_WAY = "runtime/src/record/reserve"
# Each with what the program is linked with.
CLANG = ([], ["-fsanitize=address"])


@unittest.skipUnless(platform.machine() == "x86_64", "instructions are counted by x86's trap flag")
class Compilers(Case):
    def test_handlers_after_any_two_instructions(self) -> None:
        need(self, "clang")
        check = run(["pkg-config", "--libs", "check"]).stdout.split()
        sources = [os.path.relpath(source, ROOT) for source in RUNTIME_SOURCES]
        objects = [os.path.join(OBJECTS, f"{source[:-2]}.o") for source in sources if source != f"{SHORT_WAY}.c"]
        tests = [os.path.join(OBJECTS, "tests/unit", name) for name in
                 ("test_ctf_instant.o", "ctf_fixture.o", "ctf_packets.o", "sample.o", "util.o")]
        for flags in CLANG:
            with self.subTest(flags=flags):
                theirs, program = self.path("reserve.o"), self.path("test_ctf_instant")
                self.succeed(["clang", "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-fvisibility=hidden", *flags,
                              *RUNTIME_INCLUDES, "-c", "-o", theirs, os.path.join(ROOT, SHORT_WAY + ".c")])
                self.succeed(["clang", *flags, "-o", program, *tests, theirs, *objects, *check, "-lurcu-bp",
                              "-lpthread"])
                self.succeed([program], env={**os.environ, "CK_RUN_CASE": "setup_pairs"})
