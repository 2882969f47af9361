# SPDX-License-Identifier: MIT
"""Statistics of daemons: the numbers are in FILE, where they were asked for, whatever process it is that has them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import Daemons  # noqa: E402
from support import read, until  # noqa: E402

INTO_BACKGROUND = (("daemon",), ("fork",), ("fork=exit",), ("fork", "fork"), ("daemon", "closeall"))


class Statistics(Daemons):
    def begin(self, *steps: str, options: str = "") -> subprocess.Popen:
        """Starts a daemon, in an empty directory."""
        for name in os.listdir(self.dir):
            os.remove(self.path(name))
        return self.start(*steps, TP_OUTPUT=f"stats:{self.path('stats')},json{options}")

    def counted(self, name: str = "stats") -> tuple[int, int, bool]:
        """Whose file it is; how many hits are in it; whether that is all."""
        with contextlib.suppress(FileNotFoundError):
            found = json.loads(read(self.path(name)))
            return found["pid"], sum(event["hits"] for event in found["events"]), found["final"]
        return 0, 0, False

    def files(self) -> list[str]:
        return sorted(name for name in os.listdir(self.dir) if "stats" in name)

    def test_ended_by_a_signal(self) -> None:
        """At whose default action nothing more is written: what it has counted until then is there."""
        for steps in INTO_BACKGROUND:
            for options in ("", ",interval=0.01"):
                with self.subTest(steps=steps, options=options):
                    process = self.begin(*steps, "pid=pid", "work=5", "wait=never", options=options)
                    self.assertEqual(process.wait(), 0)
                    pid = self.pid()
                    until(lambda: self.counted() == (pid, 5, False))  # pylint: disable=cell-var-from-loop
                    os.kill(pid, signal.SIGTERM)
                    self.gone(pid)
                    self.assertEqual(self.counted(), (pid, 5, False))
                    self.assertEqual(self.files(), ["stats"])

    def test_exits_at_a_signal(self) -> None:
        for steps in INTO_BACKGROUND:
            for options in ("", ",interval=0.01", ",children=end", ",interval=0"):
                with self.subTest(steps=steps, options=options):
                    process = self.begin(*steps, "pid=pid", "work=5", "term", options=options)
                    self.assertEqual(process.wait(), 0)
                    pid = self.pid()
                    os.kill(pid, signal.SIGTERM)
                    self.gone(pid)
                    self.assertEqual(self.counted(), (pid, 5, True))
                    self.assertEqual(self.files(), ["stats"])

    def test_counts_before(self) -> None:
        """Those of the first process, if they are in FILE already, are moved to a file of its own."""
        for background in ("daemon", "fork=exit"):
            with self.subTest(background):
                process = self.begin("work=3", "wait=go", background, "pid=pid", "work=5", "wait=never", options=",interval=0.01")
                until(lambda: self.counted()[1] == 3)
                self.write("go", "")
                self.assertEqual(process.wait(), 0)
                pid = self.pid()
                until(lambda: self.counted() == (pid, 5, False))  # pylint: disable=cell-var-from-loop
                self.assertEqual(self.counted(f"stats.{process.pid}"), (process.pid, 3, background == "fork=exit"))
                self.assertEqual(self.files(), ["stats", f"stats.{process.pid}"])
                self.kill(pid)
