# SPDX-License-Identifier: MIT
"""Builds the programs and modules of these tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from building import generate, runtime
from support import ROOT, WARNINGS, Case, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = tuple(runtime("shared"))
STATIC = tuple(runtime("whole"))  # in the program, which lends it to its modules
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]


_kept: dict[tuple, str] = {}


def once(test: Case, make: Callable[..., None], *args) -> None:
    """Calls make, of the test, which writes files into the test's directory: for each file of tests the first time only,
    as later tests get copies."""
    key = (make.__qualname__, args)
    if key not in _kept:
        before = set(os.listdir(test.dir))
        make(*args)
        kept = temporary()
        for name in set(os.listdir(test.dir)) - before:
            _copy(test.path(name), os.path.join(kept, name))
        _kept[key] = kept
    else:
        for name in os.listdir(_kept[key]):
            _copy(os.path.join(_kept[key], name), test.path(name))


def _copy(source: str, target: str) -> None:
    if os.path.isdir(source):
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


class Modules(Case):
    """Tests with a program and modules, all in the test's directory."""

    def generate(self, *names: str) -> None:
        for name in names:  # one by one: tpgen would see where they quarrel
            once(self, self._generate, name)

    def _generate(self, name: str) -> None:
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
