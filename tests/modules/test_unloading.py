# SPDX-License-Identifier: MIT
"""dlclose of modules with probes and of modules with sites, while they are in use; and the end of the process."""

from __future__ import annotations

import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from builder import COMPILERS, SHARED, STATIC, Modules, once  # noqa: E402
from building import CXX  # noqa: E402
from support import check_all  # noqa: E402

CASES = ("hits", "sits", "sites", "orders", "exit", "exit-hits")


class Unloading(Modules):
    def setUp(self) -> None:
        super().setUp()
        self.generate("mod")

    def build(self, runtime: tuple[str, ...] = SHARED, module: tuple[str, ...] = ("-lurcu-bp",)) -> None:
        """The program; and modules with sites, which find the runtime in it or its library."""
        once(self, self._build, runtime, module)

    def _build(self, runtime: tuple[str, ...], module: tuple[str, ...]) -> None:
        self.program("unload", "unload.c", "-Wl,-export-dynamic", *runtime)
        self.module("a.so", "module.c", *module)
        self.module("b.so", "module.c", *module)

    def prober(self, *flags: str, compiler: str = "gcc") -> None:
        self.module("prober.so", "prober.c", f"-I{os.path.dirname(os.path.abspath(__file__))}", *flags,
                    compiler=compiler)

    def check(self, *cases: str, early: bool = False) -> None:
        for case in cases:
            with self.subTest(case=case, early=early):
                self.says("unload", case, *(["early"] if early else []))

    def test_probes_that_are_forgotten(self) -> None:
        self.build()
        self.prober()
        self.check(*CASES)

    def test_probes_that_a_constructor_registers(self) -> None:
        self.build()
        self.prober("-DEARLY")
        self.check(*CASES, early=True)

    def test_probes_that_a_destructor_removes(self) -> None:
        self.build()
        for early in (False, True):
            self.prober("-DTIDY", *(["-DEARLY"] if early else []))
            self.check(*CASES, early=early)

    def test_first_probe_while_a_module_is_loaded(self) -> None:
        self.build(STATIC)  # with the library, its own constructors have been here before
        self.module("sitter.so", "prober.c", "-DSITTER")
        self.says("unload", "first")

    def test_runtime_in_the_program(self) -> None:
        self.build(STATIC)
        for flags in ((), ("-DEARLY",), ("-DTIDY",)):
            self.prober(*flags)
            self.check(*CASES, early=bool(flags) and flags[0] == "-DEARLY")

    @check_all("the compiler of the tests above is enough before a commit")
    def test_compilers(self) -> None:
        self.build()
        for compiler in COMPILERS:
            for by in (compiler, CXX[compiler]):
                if not shutil.which(by):
                    continue
                for flags in (("-O0",), ("-O2",), ("-O2", "-flto"), ("-O0", "-DTIDY"), ("-O2", "-flto", "-DTIDY")):
                    with self.subTest(compiler=by, flags=flags):
                        self.prober(*flags, compiler=by)
                        self.check("hits", "sits", "exit")

    @check_all("every linker")
    def test_linkers(self) -> None:
        self.build()
        for linker in ("lld", "gold"):
            if shutil.which(f"ld.{linker}"):
                for flags in ((), ("-DTIDY",), ("-Wl,--gc-sections", "-ffunction-sections")):
                    with self.subTest(linker=linker, flags=flags):
                        self.prober(f"-fuse-ld={linker}", *flags)
                        self.check("hits", "sits")

    def test_library_of_the_program(self) -> None:
        """Not loaded by dlopen: its constructor comes before those of the program."""
        self.build()
        self.prober("-DEARLY")
        self.program("unload", "unload.c", "-Wl,-export-dynamic", "-Wl,--no-as-needed", self.path("prober.so"), *SHARED)
        self.check("exit", "exit-hits", early=True)

    def test_library_of_the_program_that_registers_often(self) -> None:
        """So often that the runtime has no more ways to be told of the process's end than by its main thread."""
        self.build()
        self.prober("-DEARLY", "-DOFTEN=8")
        self.program("unload", "unload.c", "-Wl,-export-dynamic", "-Wl,--no-as-needed", self.path("prober.so"), *SHARED)
        self.check("exit", early=True)

    def test_module_unloaded_by_a_destructor(self) -> None:
        """At the end of the process, when others still hit: its probes are not called any more."""
        here = os.path.dirname(os.path.abspath(__file__))
        self.succeed(self.command("gcc", "define.o", "define.c", "-c"))
        self.program("last", "last.cc", f"-I{here}", "-Wl,-export-dynamic", self.path("define.o"), *SHARED, compiler="g++")
        self.prober("-DEARLY")
        self.assertEqual(self.says("last"), "probe\nprobe\nhit\n")

    def test_module_with_nothing_but_a_custom_event(self) -> None:
        """dlclose waits for the event's writer, though the tracepoint is not the module's."""
        self.generate("slow")
        self.write("slow.c", "#define CREATE_TRACE_POINTS\n#include \"slow.h\"\n")
        self.program("writer", "writer.c", "-Wl,-export-dynamic", *SHARED)
        self.module("slow.so", os.path.join(self.dir, "slow.c"), "-lurcu-bp")
        self.assertIn("slow:mod_hit: n=1", self.says("writer"))
