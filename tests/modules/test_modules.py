# SPDX-License-Identifier: MIT
"""Modules that come and go by dlopen and dlclose, with the same event, while it is hit."""

from __future__ import annotations

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from builder import once  # noqa: E402
from building import build, generate  # noqa: E402
from support import Case, need, read, run  # noqa: E402


class Modules(Case):
    def build(self, libtp: str = "shared") -> None:
        once(self, self._build, libtp)

    def _build(self, libtp: str) -> None:
        generate(self.dir, "tests/modules/mod.tp")
        for output, source in (("a.so", "module.c"), ("b.so", "module.c"), ("host", "host.c")):
            build(self.path(output), os.path.join(HERE, source), compiler="gcc", include=[self.dir], libtp=libtp,
                  flags=["-Wno-pedantic"], link=["-rdynamic"])

    def host(self, what: str, **env: str):
        done = run(["./host", what], cwd=self.dir, env={**os.environ, **env})
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
        # Every hit of every load is there: nothing was lost when a module went and another took over.
        self.assertEqual(len(self.read_by("babeltrace2", self.path("trace")).splitlines()), 4 * 300 * 100)

    def test_storm_under_address_sanitizer(self) -> None:
        self.build("asan")
        self.host("storm", TP_ENABLE="mod:*", TP_OUTPUT=f"text:{self.path('log')}")
        self.assertEqual(len(read(self.path("log")).splitlines()), 4 * 300 * 100)
