# SPDX-License-Identifier: MIT
"""Modules that come and go by dlopen and dlclose, with the same event, while it is hit."""

from __future__ import annotations

import os
import re

from support import BUILD, ROOT, RUNTIME_INCLUDES, RUNTIME_SOURCES, Case, need, read, reader, run, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))


class Modules(Case):
    def build(self, *flags: str, runtime: tuple[str, ...] = ()) -> None:
        done = tpgen("gen", "-o", self.dir, "tests/modules/mod.tp")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        libs = runtime or (f"-L{BUILD}", f"-Wl,-rpath,{BUILD}", "-ltp")
        common = ["gcc", "-std=gnu11", "-g", "-O2", "-Wall", "-Wextra", "-I", os.path.join(ROOT, "runtime/include"), "-I",
                  self.dir, *flags]
        for name in ("a.so", "b.so"):
            self.succeed([*common, "-shared", "-fPIC", "-o", self.path(name), os.path.join(HERE, "module.c"), *libs,
                          "-lurcu-bp"])
        self.succeed([*common, "-rdynamic", "-o", self.path("host"), os.path.join(HERE, "host.c"), *libs, "-lurcu-bp",
                      "-lpthread", "-ldl"])

    def host(self, what: str, **env: str):
        done = run(["./host", what], cwd=self.dir, env={**os.environ, **env}, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return int(done.stdout)

    def test_probe_waits_for_its_module(self) -> None:
        """Registered before the module is there; attached each time that it comes."""
        self.build()
        self.assertEqual(self.host("one"), 2)

    def test_two_modules_one_event(self) -> None:
        self.build()
        self.assertEqual(self.host("twins", TP_ENABLE="mod:*", TP_OUTPUT=f"text:{self.path('log')}"), 4)
        self.assertEqual(re.findall(r"mod:mod_hit: n=(\d)", read(self.path("log"))), list("12345"))

    def test_storm(self) -> None:
        need(self, "babeltrace2")
        self.build()
        self.host("storm")
        self.host("storm", TP_ENABLE="mod:*", TP_OUTPUT=f"ctf:{self.path('trace')}")
        done = reader(["babeltrace2", self.path("trace")])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        # Every hit of every load is there: nothing was lost when a module went and another took over.
        self.assertEqual(len(done.stdout.splitlines()), 4 * 300 * 100)

    def test_storm_under_address_sanitizer(self) -> None:
        sanitize = ["-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all"]
        self.succeed(["gcc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-fPIC", "-fvisibility=hidden", *sanitize,
                      *RUNTIME_INCLUDES, "-shared", "-Wl,-soname,libtpasan.so", "-Wl,-z,nodelete", "-o",
                      self.path("libtpasan.so"), *RUNTIME_SOURCES, "-lurcu-bp", "-lpthread"])
        self.build(*sanitize, runtime=(f"-L{self.dir}", f"-Wl,-rpath,{self.dir}", "-ltpasan"))
        self.host("storm", TP_ENABLE="mod:*", TP_OUTPUT=f"text:{self.path('log')}")
        self.assertEqual(len(read(self.path("log")).splitlines()), 4 * 300 * 100)
