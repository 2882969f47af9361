# SPDX-License-Identifier: MIT
"""The commands of docs/kernel.md, run on the packaged headers."""

from __future__ import annotations

import json
import os
import re
import sys

from docs.pages import blocks, pattern
from kernel import tree
from support import ROOT, read, run

CHECK_ALL = "the kernel's own headers take long"


class Commands(tree.Series):
    def check_series(self, found: tree.Tree) -> None:
        page = blocks(read(os.path.join(ROOT, "docs/kernel.md")))
        commands = [b.text for b in page if b.kind == "sh"]
        self.assertEqual(len(commands), 3)
        script = f'set -e\ntpgen() {{ "{sys.executable}" -m tpgen "$@"; }}\n' + "".join(commands)
        env = {k: v for k, v in os.environ.items() if k != "CC"}
        done = run(["bash", "-c", script], cwd=self.dir, env={**env, "PYTHONPATH": ROOT, "K": found.common, "O": found.config})
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if ": error: " in line]), (0, []), done.stderr)
        lines = done.stdout.splitlines()
        for line in next(b.text for b in page if b.kind == "text").splitlines():
            self.assertTrue(line == "..." or any(re.fullmatch(pattern(line), one) for one in lines), f"{line}\n{done.stdout}")
        self.assertGreater(len(json.loads(read(self.path("events.json")))["events"]), 1000)
        self.assertTrue(json.loads(read(self.path("irq.json")))["events"])
