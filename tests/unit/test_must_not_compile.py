# SPDX-License-Identifier: MIT
"""What the runtime's macros must refuse at compile time, and accept."""

from __future__ import annotations

import os
import shutil

from support import INCLUDES, WARNINGS, Case, run

PROGRAM = """
#include <stdint.h>
#include <tp/print.h>

const char *print(struct trace_seq *p, const void *words, int count, size_t size);
const char *print(struct trace_seq *p, const void *words, int count, size_t size)
{
	(void)size;
	return __print_array(words, count, %s);
}
"""
COMPILERS = [os.environ.get("CC") or "gcc", "clang"]


class ElementSize(Case):
    """The last argument of __print_array."""

    def compile(self, size: str, compiler: str):
        source = self.write("print.c", PROGRAM % size)
        return run([*compiler.split(), "-std=gnu11", *WARNINGS, *INCLUDES, "-O2", "-c", "-o", self.path("print.o"),
                    source])

    def compilers(self) -> list[str]:
        return [c for c in dict.fromkeys(COMPILERS) if shutil.which(c.split()[0])]

    def test_constants_that_no_element_has(self) -> None:
        for compiler in self.compilers():
            for size in ("0", "3", "16", "sizeof(char[3])", "-1"):
                with self.subTest(compiler=compiler, size=size):
                    done = self.compile(size, compiler)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("__print_array__an_element_has_1_2_4_or_8_bytes", done.stderr)

    def test_all_others(self) -> None:
        for compiler in self.compilers():
            for size in ("1", "2", "4", "8", "sizeof(uint16_t)", "sizeof(*(uint64_t *)0)", "size", "size + 1"):
                with self.subTest(compiler=compiler, size=size):
                    done = self.compile(size, compiler)
                    self.assertEqual(done.returncode, 0, done.stderr)
