# SPDX-License-Identifier: MIT
"""docs/reading.md: each command of its table makes what the viewer reads, of a trace of examples/pgz."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from support import BUILD, ROOT, Case, need, read, run

sys.path.insert(0, os.path.join(ROOT, "tests/perfetto"))

from packets import events  # noqa: E402

PGZ = os.path.join(BUILD, "examples/pgz/pgz")
RECORDED = "tp record "  # needs a process, and root: tests of its own


class Reading(Case):
    def setUp(self) -> None:
        super().setUp()
        env = {**os.environ, "TP_ENABLE": "pgz:*", "TP_OUTPUT": f"ctf:{self.path('trace')}"}
        subprocess.run([PGZ, "-c", os.path.join(ROOT, "LICENSE")], env=env, stdout=subprocess.DEVNULL, check=True)

    def commands(self) -> list[str]:
        page = read(os.path.join(ROOT, "docs/reading.md"))
        rows = [row.split("|")[2] for row in page.splitlines() if row.startswith("| ")][1:]
        return [command for row in rows for command in re.findall("`(tp [^`]*)`", row) if not command.startswith(RECORDED)]

    def test_commands(self) -> None:
        self.assertGreater(len(self.commands()), 6)
        for command in self.commands():
            words = command.replace("...", "").replace("BEGIN END", "pgz_block_start pgz_block_end").split()
            with self.subTest(command):
                done = run([os.path.join(BUILD, "tp"), *words[1:]], cwd=self.dir)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertEqual(sorted(os.listdir(self.dir)), ["parquet", "timeline.svg", "trace", "trace.dat", "trace.perfetto"])

    def test_slices_of_pgz(self) -> None:
        """Without an option, as defs/pgz.tp speaks as the kernel's track events do."""
        need(self, "protoc")
        self.succeed([os.path.join(BUILD, "tp"), "convert", self.path("trace"), "--to", "perfetto", "-o", self.path("file")])
        self.assertEqual({event.name for event in events(self.path("file")) if event.type == "SLICE_BEGIN"}, {"read", "wait", "compress", "write"})
