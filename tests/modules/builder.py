# SPDX-License-Identifier: MIT
"""Builds the programs and modules of these tests."""

from __future__ import annotations

import os
import shutil

from building import generate, runtime
from support import ROOT, WARNINGS, Case, run

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = tuple(runtime("shared"))
STATIC = tuple(runtime("whole"))  # in the program, which lends it to its modules
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]


class Modules(Case):
    """Tests with a program and modules, all in the test's directory."""

    def generate(self, *names: str) -> None:
        for name in names:  # one by one: tpgen would see where they quarrel
            generate(self.dir, f"tests/modules/{name}.tp")

    def generate_from(self, name: str, text: str) -> None:
        generate(self.dir, self.write(name, text))

    def command(self, compiler: str, output: str, source: str, *flags: str) -> list[str]:
        """A command that makes output of one of the sources here, as C++ with a compiler for that."""
        language = ["-xc++", "-std=gnu++17"] if compiler.endswith("++") else ["-xc", "-std=gnu11"]
        source = source if os.path.isabs(source) else os.path.join(HERE, source)
        return [compiler, "-D_GNU_SOURCE", "-g", "-O2", *WARNINGS, "-I", os.path.join(ROOT, "runtime/include"), "-I",
                self.dir, *(f for f in flags if f.startswith(("-O", "-D", "-f", "-c", "-shared", "-no", "-std"))), "-o",
                self.path(output), *language, source, "-xnone",
                *(f for f in flags if not f.startswith(("-O", "-D", "-f", "-c", "-shared", "-no", "-std")))]

    def program(self, output: str, source: str, *flags: str, compiler: str = "gcc") -> None:
        self.succeed(self.command(compiler, output, source, *flags))

    def module(self, output: str, source: str, *flags: str, compiler: str = "gcc") -> None:
        self.succeed(self.command(compiler, output, source, "-shared", "-fPIC", *flags))

    def start(self, program: str, *args: str, **env: str):
        return run([f"./{program}", *args], cwd=self.dir, env={**os.environ, **env})

    def says(self, program: str, *args: str, **env: str) -> str:
        """What the program prints, which must come to its end without complaints."""
        done = self.start(program, *args, **env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout
