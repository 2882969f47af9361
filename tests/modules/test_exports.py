# SPDX-License-Identifier: MIT
"""EXPORT_TRACEPOINT_SYMBOL: sites of a tracepoint that another module defines."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from builder import COMPILERS, SHARED, Modules  # noqa: E402
from building import CXX  # noqa: E402
from support import both, check_all, few_or_many, run  # noqa: E402

EXPECTED = """\
off:
on:
library 2
program 2
on, on:
library 3
program 3
module 3
off:
on, on:
library 5
program 5
module 5
on:
library 6
program 6
"""
NO_KEYS = "-DTP_STATIC_KEYS=0"
PIE, NO_PIE = ("-fPIE",), ("-fno-pie", "-no-pie")


class Exports(Modules):
    def setUp(self) -> None:
        super().setUp()
        self.generate("exp")

    def build(self, library: tuple[str, ...] = (), program: tuple[str, ...] = PIE, module: tuple[str, ...] = (),
              compiler: str = "gcc", site_compiler: str = "") -> None:
        site_compiler = site_compiler or compiler
        mine = (f"-L{self.dir}", f"-Wl,-rpath,{self.dir}", "-lexporter")
        self.module("libexporter.so", "exporter.c", *library, *SHARED, compiler=compiler)
        self.module("importer.so", "importer.c", *module, *mine, *SHARED, compiler=site_compiler)
        self.program("user", "user.c", *program, *mine, *SHARED, compiler=site_compiler)

    def check(self) -> None:
        self.assertEqual(self.says("user"), EXPECTED)
        for name in ("user", "importer.so", "libexporter.so"):
            relocations = self.succeed(["readelf", "-rW", self.path(name)]).stdout
            self.assertNotRegex(relocations, r"R_\w+_COPY .*tracepoint")

    @both
    def test_programs_and_modules(self) -> None:
        """Before a commit, each way of building one of them once."""
        ways = list(itertools.product(COMPILERS, (PIE, NO_PIE), ((), (NO_KEYS,)), ((), (NO_KEYS,))))
        some = [ways[0], ways[-1], ("gcc", NO_PIE, (), (NO_KEYS,))]
        for compiler, program, library, sites in (ways, some)[few_or_many(1, 0)]:
            with self.subTest(compiler=compiler, program=program, library=library, sites=sites):
                self.build(library, (*program, *sites), sites, compiler)
                self.check()

    @check_all("test_programs_and_modules is one way to build them")
    def test_without_optimization(self) -> None:
        for compiler in COMPILERS:
            for program in (PIE, NO_PIE):
                with self.subTest(compiler=compiler, program=program):
                    self.build(("-O0",), (*program, "-O0"), ("-O0",), compiler)
                    self.check()

    @check_all("test_programs_and_modules is one way to build them")
    def test_sites_in_cpp(self) -> None:
        for compiler in COMPILERS:
            if shutil.which(CXX[compiler]):
                for level in ("-O0", "-O2"):
                    with self.subTest(compiler=compiler, level=level):
                        self.build((), (*NO_PIE, level), (level,), compiler, CXX[compiler])
                        self.check()

    @check_all("test_programs_and_modules is one way to build them")
    def test_symbolic_libraries(self) -> None:
        """The library's own references are bound inside it: it must be the same tracepoint all the same."""
        for program in (PIE, NO_PIE):
            for keys in ((), (NO_KEYS,)):
                with self.subTest(program=program, keys=keys):
                    self.build(("-Wl,-Bsymbolic", *keys), (*program, *keys), ("-Wl,-Bsymbolic", *keys))
                    self.check()

    @check_all("test_programs_and_modules is one way to build them")
    def test_link_time_optimization(self) -> None:
        for compiler in COMPILERS:
            for program in (PIE, NO_PIE):
                with self.subTest(compiler=compiler, program=program):
                    self.build(("-flto",), (*program, "-flto"), ("-flto",), compiler)
                    self.check()

    @check_all("every linker")
    def test_other_linkers(self) -> None:
        for linker in ("lld", "gold"):
            if shutil.which(f"ld.{linker}"):
                for program in (PIE, NO_PIE):
                    with self.subTest(linker=linker, program=program):
                        flag = f"-fuse-ld={linker}"
                        self.build((flag,), (*program, flag), (flag,))
                        self.check()

    def test_recorded_once(self) -> None:
        self.build()
        done = self.start("user", TP_ENABLE="exp:*", TP_OUTPUT=f"text:{self.path('log')}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        with open(self.path("log"), encoding="utf-8") as log:
            where = re.findall(r"exp:exp_hit: n=(\d) where=(\w+)", log.read())
        self.assertEqual(where, [(n, w) for n in "123456" for w in ("library", "program", "module")
                                 if w != "module" or n in "345"])

    def test_other_prototype(self) -> None:
        """The module's sites stay off, and say so; the others are none the worse."""
        self.generate_from("other_exp.tp", "#define TRACE_SYSTEM exp\nDECLARE_TRACE(exp_hit, TP_PROTO(long *list), "
                                           "TP_ARGS(list));\nEXPORT_TRACEPOINT_SYMBOL(exp_hit);\n")
        source = self.write("importer.c", '#define OTHER 1\n#define trace_exp_hit_of(n) trace_exp_hit((long *)(long)n)\n'
                            + importer().replace("trace_exp_hit(n)", "trace_exp_hit_of(n)"))
        for keys in ((), (NO_KEYS,)):
            with self.subTest(keys=keys):
                self.build()
                self.module("importer.so", source, *keys, f"-L{self.dir}", "-lexporter", *SHARED)
                done = self.start("user")
                self.assertEqual((done.returncode, done.stdout),
                                 (0, re.sub("module .*\n", "", EXPECTED).replace("on, on", "on")))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                for word in ("tp: ", "'exp_hit'", "importer.so", "libexporter.so", "(long *)", "(int, const char *)"):
                    self.assertIn(word, done.stderr)

    def test_only_what_is_exported_is_visible(self) -> None:
        for compiler in COMPILERS:
            with self.subTest(compiler=compiler):
                self.module("libexporter.so", "exporter.c", *SHARED, compiler=compiler)
                symbols = self.succeed(["readelf", "--dyn-syms", "-W", self.path("libexporter.so")]).stdout
                # bfd lists the hidden bounds of sections, too, as that: hidden.
                visible = re.findall(r" (?:GLOBAL|WEAK) +(?:DEFAULT|PROTECTED) +\d+ (\w+)", symbols)
                self.assertEqual(sorted(visible), ["__tracepoint_exp_hit", "library_hit"])

    def test_linking_to_what_is_not_exported_fails(self) -> None:
        source = self.write("own.c", '#include "exp.h"\nint main(void)\n{\n\ttrace_exp_own(1);\n\treturn 0;\n}\n')
        self.module("libexporter.so", "exporter.c", *SHARED)
        for compiler in COMPILERS:
            for shape in (("-fPIE",), NO_PIE, ("-shared", "-fPIC")):
                with self.subTest(compiler=compiler, shape=shape):
                    done = run(self.command(compiler, "own", source, *shape, f"-L{self.dir}", "-lexporter", *SHARED))
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("__tracepoint_exp_own", done.stderr)


def importer() -> str:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "importer.c"), encoding="utf-8") as file:
        return file.read()
