# SPDX-License-Identifier: MIT
"""Who unwinds the stack finds the way from a probe, and from within its call, back to the site and its callers."""

from __future__ import annotations

import os

from building import CXX, generate, runtime
from support import ROOT, Case, need, run

HERE = os.path.dirname(os.path.abspath(__file__))


class Unwind(Case):
    def unwind(self, compiler: str, *options: str, cpp: bool = False, frames: bool = False,
               link: tuple[str, ...] = ()) -> None:
        need(self, compiler, CXX[compiler])
        generate(self.dir, "tests/sites/stack.tp")
        flags = ["-D_GNU_SOURCE", "-Wall", "-Wextra", *options,
                 "-fno-omit-frame-pointer" if frames else "-fomit-frame-pointer", "-I",
                 os.path.join(ROOT, "runtime/include"), "-I", self.dir, "-c", "-o"]
        self.succeed([compiler, "-std=gnu11", *flags, self.path("unwind.o"), os.path.join(HERE, "unwind.c")])
        self.succeed([CXX[compiler] if cpp else compiler, *(["-x", "c++"] if cpp else ["-std=gnu11"]), *flags,
                      self.path("leaf.o"), os.path.join(HERE, "leaf.c")])
        self.succeed([compiler, *options, *link, "-o", self.path("unwind"), self.path("unwind.o"), self.path("leaf.o"),
                      *runtime("static")])
        done = run([self.path("unwind"), *(["frames"] if frames else [])])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "good\n", ""))

    def test_gcc(self) -> None:
        for level in ("-O0", "-O2", "-Os"):
            with self.subTest(level):
                self.unwind("gcc", level)

    def test_clang(self) -> None:
        for level in ("-O0", "-O2"):
            with self.subTest(level):
                self.unwind("clang", level)

    def test_cpp(self) -> None:
        for compiler in CXX:
            with self.subTest(compiler):
                self.unwind(compiler, "-O2", cpp=True)

    def test_frame_pointers(self) -> None:
        for compiler in CXX:
            for level in ("-O0", "-O2"):
                with self.subTest(compiler=compiler, level=level):
                    self.unwind(compiler, level, frames=True)

    def test_static(self) -> None:
        """There, the linker makes a direct jump of the one through the table of addresses."""
        self.unwind("gcc", "-O2", "-fno-pie", link=("-static",))

    def test_without_static_keys(self) -> None:
        self.unwind("gcc", "-O2", "-DTP_STATIC_KEYS=0")
