# SPDX-License-Identifier: MIT
"""dlmopen(): a namespace has a runtime of its own, which reads the environment once more."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from builder import HERE  # noqa: E402
from building import build, generate  # noqa: E402
from support import Case, need, read, run  # noqa: E402

MODULE = '#define CREATE_TRACE_POINTS\n#include "names.h"\nvoid hit(int n);\nvoid hit(int n)\n{\n\ttrace_names_hit(n);\n}\n'


class Namespaces(Case):
    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, os.path.join(HERE, "names.tp"))
        flags = [f"-I{self.dir}"]
        self.module = build(self.path("module.so"), self.write("module.c", MODULE), flags=flags, libtp="shared")
        self.program = build(self.path("program"), os.path.join(HERE, "namespaces.c"), flags=flags, libtp="shared", link=["-ldl"])

    def says(self, **env: str) -> tuple[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TP_")}
        done = run([self.program, self.module], env={**clean, **env}, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def test_probes(self) -> None:
        self.assertEqual(self.says(), ("probe 1\nprobe 2\n", ""))

    def test_text_is_shared(self) -> None:
        self.says(TP_OUTPUT="text:lines")
        self.assertEqual([line.partition("n=")[2] for line in read(self.path("lines")).splitlines()], ["1", "2", "2"])

    def test_ctf_is_refused(self) -> None:
        need(self, "babeltrace2")
        _, errors = self.says(TP_OUTPUT="ctf:trace")
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn("tp: TP_OUTPUT=ctf:trace: File exists; there is a trace in it already", errors)
        events = self.succeed(["babeltrace2", self.path("trace")]).stdout
        self.assertEqual([line.rpartition("n = ")[2] for line in events.splitlines()], ["1 }", "2 }"])
