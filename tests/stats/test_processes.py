# SPDX-License-Identifier: MIT
"""Statistics of programs that fork: no lock waits for ever, and a child's file is there while it runs."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "ctf"))

from building import build  # noqa: E402
from recording import SANITIZER, Recording  # noqa: E402
from support import read, temporary, until  # noqa: E402

SECONDS = "3"
STALL = 90


class Processes(Recording):
    built: str  # the directory of the programs

    @classmethod
    def setUpClass(cls) -> None:
        cls.built = temporary()
        for name, libtp in (("background", SANITIZER), ("storm", "")):  # a sanitizer has a malloc of its own
            build(os.path.join(cls.built, name), os.path.join(HERE, name + ".c"), libtp=libtp or "static")

    def begin(self, name: str, *args: str, output: str) -> subprocess.Popen:
        env = self.environment(TP_OUTPUT=output, TP_ENABLE="*")
        with open(self.path("err"), "wb") as err:
            process = subprocess.Popen([os.path.join(self.built, name), *args], cwd=self.dir, env=env, stderr=err,
                                       stdin=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    # ---- Locks ----

    def comes_to_its_end(self, output: str) -> None:
        process = self.begin("storm", SECONDS, self.path("others"), output=f"stats:{self.path('stats')},"
                             f"interval=0.01,by=thread,children=live;{output}")
        try:
            self.assertEqual(process.wait(STALL), 0, read(self.path("err")))
        except subprocess.TimeoutExpired:
            self.fail(f"has not ended after {STALL} s: its locks wait for one another")
        self.assertRegex(read(self.path("err")), r"\A(tp: [^\n]*: records lost: [^\n]*\n)*\Z")
        self.assertIn("marker:malloc ", read(self.path("stats")))

    def test_storm_beside_a_trace(self) -> None:
        self.comes_to_its_end(f"ctf:{self.trace},mode=flight,size=1M")

    def test_storm_beside_text(self) -> None:
        self.comes_to_its_end("text:/dev/null")

    # ---- Into the background ----

    def in_background(self, options: str) -> None:
        process = self.begin("background", output=f"stats:{self.path('stats')},json,interval=0.02{options}")
        self.assertEqual(process.wait(STALL), 0)

    def beats(self, path: str) -> int:
        with open(path, encoding="utf-8") as file:
            return sum(event["hits"] for event in json.load(file)["events"])

    def kill(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)

    def test_a_file_while_it_runs(self) -> None:
        """It is the one that was asked for; and kill -9 leaves what was there."""
        self.in_background("")
        path = self.path("stats")
        until(lambda: self.beats(path), self.repeat)
        with open(path, encoding="utf-8") as file:
            pid = json.load(file)["pid"]
        self.addCleanup(self.kill, pid)
        before = self.beats(path)
        self.assertGreater(before, 0)
        until(lambda: self.beats(path) > before, self.repeat)
        until(lambda: self.beats(path) > before + 20, self.repeat)
        self.kill(pid)
        self.assertGreater(self.beats(path), before + 20)
        self.assertEqual(glob.glob(self.path("stats.*")), [])
        self.assertEqual(read(self.path("err")), "")
