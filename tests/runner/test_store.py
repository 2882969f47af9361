# SPDX-License-Identifier: MIT
"""The store: a compiler is not called again for the same, and always for another thing that it reads."""

from __future__ import annotations

import concurrent.futures
import os
import unittest.mock

import store
from support import ROOT, Case, run


class Store(Case):
    def setUp(self) -> None:
        super().setUp()
        patched = unittest.mock.patch.object(store, "STORE", self.path("store"))
        patched.start()
        self.addCleanup(patched.stop)
        self.compiler = self.write("bin/gcc", f"#!/bin/sh\necho >>{self.path('calls')}\nexec gcc \"$@\"\n")
        os.chmod(self.compiler, 0o755)
        self.write("main.c", '#include "beside.h"\n#include <far.h>\nint main(void) { return BESIDE + FAR; }\n')
        self.write("beside.h", "#define BESIDE 1\n")
        self.write("include/deep/far.h", "#define FAR 2\n")

    def made(self, *options: str) -> tuple[int, int]:
        """The status of the program, and how often the compiler was called."""
        calls = self.path("calls")
        self.write("calls", "")
        self.succeed([self.compiler, "-o", self.path("program"), *options, "-I", self.path("include"),
                      f"-I{self.path('include/deep')}", self.path("main.c")])
        return run([self.path("program")]).returncode, os.path.getsize(calls)

    def test_the_same(self) -> None:
        self.assertEqual([self.made(), self.made()], [(3, 1), (3, 0)])
        os.unlink(self.path("program"))
        self.assertEqual(self.made(), (3, 0))

    def test_another_input(self) -> None:
        """Of the same length, as the time of a change may be the same, too."""
        self.made()
        for name, text, status in (("beside.h", "#define BESIDE 5\n", 7), ("include/deep/far.h", "#define FAR 6\n", 11),
                                   ("main.c", '#include "beside.h"\n#include <far.h>\nint main(void) { return BESIDE - 4; }\n', 1)):
            self.write(name, text)
            self.assertEqual([self.made(), self.made()], [(status, 1), (status, 0)], name)
        self.write("beside.h", '#include "part.m"\n')
        for value in (8, 9):  # of an ending that nobody else has
            self.write("part.m", f"#define BESIDE {value}\n")
            self.assertEqual([self.made(), self.made()], [(value - 4, 1), (value - 4, 0)])

    def test_another_command(self) -> None:
        self.assertEqual([self.made(), self.made("-O1"), self.made("-O1"), self.made()], [(3, 1), (3, 1), (3, 0), (3, 0)])

    def test_library(self) -> None:
        self.write("main.c", "int one(void); int main(void) { return one(); }\n")
        for status in (4, 5):
            self.write("one.c", f"int one(void); int one(void) {{ return {status}; }}\n")
            self.succeed(["gcc", "-c", "-o", self.path("one.o"), self.path("one.c")])
            self.succeed(["ar", "rcs", self.path("libone.a"), self.path("one.o")])
            found = [self.made(f"-L{self.dir}", "-Wl,--whole-archive", "-lone", "-Wl,--no-whole-archive") for _ in range(2)]
            self.assertEqual(found, [(status, 1), (status, 0)])

    def test_mistakes(self) -> None:
        """And warnings: they come each time."""
        self.write("main.c", "int main(void) { int unused; return 3; }\n")
        for _ in range(2):
            done = run([self.compiler, "-Wall", "-o", self.path("program"), self.path("main.c")])
            self.assertIn("unused variable", done.stderr)
        self.write("main.c", "int main(void) { return x; }\n")
        for _ in range(2):
            self.assertNotEqual(run([self.compiler, "-o", self.path("program"), self.path("main.c")]).returncode, 0)

    def test_files_beside(self) -> None:
        """What makes two files is not kept."""
        for _ in range(2):
            self.assertEqual(self.made("-MD", "-MF", self.path("depends")), (3, 1))
            os.unlink(self.path("depends"))
            self.assertEqual(self.made("-fstack-usage", "-dumpdir", f"{self.dir}/"), (3, 1))
        self.assertFalse(os.path.exists(self.path("store")))

    def test_program_that_runs(self) -> None:
        """Nor is one changed that a test has changed."""
        self.made()
        with open(self.path("program"), "ab") as file:
            file.write(b"more")
        self.assertEqual(self.made(), (3, 0))
        with open(self.path("program"), "rb") as file:
            self.assertFalse(file.read().endswith(b"more"))

    def test_executed_while_others_fork(self) -> None:
        """A child that another thread has just forked holds what this process has open for writing: "Text file busy"."""
        self.write("main.c", "char large[8 << 20] = {3}; int main(void) { return large[0]; }\n")  # takes a moment to copy
        self.made()
        command = [self.compiler, "-o", self.path("program"), "-I", self.path("include"),
                   f"-I{self.path('include/deep')}", self.path("main.c")]
        outputs = [self.path(f"program{i}") for i in range(40)]

        def take(output: str) -> int:
            entry = store.Entry(command, ROOT)
            entry.output = output
            return run([output]).returncode if entry.take() else -1

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(set(pool.map(take, outputs)), {3})

    def test_trim(self) -> None:
        """What was used last stays."""
        self.made()
        self.made("-O1")
        self.made()
        size = max(entry.stat().st_size for entry in os.scandir(store.STORE))
        with unittest.mock.patch.object(store, "LIMIT", size + size // 2):
            store.trim()
        self.assertEqual(len(os.listdir(store.STORE)), 1)
        self.assertEqual([self.made(), self.made("-O1")], [(3, 0), (3, 1)])
