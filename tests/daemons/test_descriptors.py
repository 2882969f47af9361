# SPDX-License-Identifier: MIT
"""A server whose connections use up all descriptors records on."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from daemons import Daemons  # noqa: E402
from support import PATIENCE, need, until  # noqa: E402


def limit() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))


class Descriptors(Daemons):
    def setUp(self) -> None:
        super().setUp()
        need(self, "babeltrace2")

    def run_server(self, *steps: str, options: str = "", name: str = "trace") -> str:
        """What it has to say."""
        done = subprocess.run([self.program, *steps], cwd=self.dir, timeout=PATIENCE, preexec_fn=limit, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, encoding="utf-8", check=False,
                              env=self.environment(TP_ENABLE="*", TP_OUTPUT=f"ctf:{name},packet=4K{options}"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def all_is_there(self, count: int, name: str = "trace") -> None:
        self.assertEqual(sorted(self.records(self.path(name))), list(range(1, count + 1)))
        shutil.rmtree(self.path(name))

    def test_used_up(self) -> None:
        for options in ("", ",prepare=self", ",mode=flight,packets=400", ",size=10M,full=overwrite"):
            for steps in (("useup", "work=6000"), ("work=300", "useup", "work=5700"), ("useup", "threads=1500"),
                          ("closeall", "open=/dev/null", "work=300", "useup", "threads=1425"), ("useup", "fork", "threads=1500")):
                with self.subTest(options=options, steps=steps):
                    self.assertEqual(self.run_server(*steps, options=options), "")
                    if "fork" in steps:
                        until(lambda: len(self.records(self.path("trace"))) == 6000)
                    self.all_is_there(6000)

    def test_used_up_before_the_first_record(self) -> None:
        """The directory is yet to be made; and no thread gives up while another one has its spare for a while."""
        for steps in (("useup", "work=6000"), ("useup", "threads=1500"), ("slow", "useup", "threads=1500")):
            self.assertEqual(self.run_server(*steps, name="t-%p"), "")
            name, = (name for name in os.listdir(self.dir) if name.startswith("t-"))
            self.assertIn(".lock", os.listdir(self.path(name)))
            self.assertEqual(os.listdir(self.path(name) + "/format"), ["daemon"])
            self.all_is_there(6000, name)

    def test_races(self) -> None:
        """What the program's threads take is lost and counted, and not for ever."""
        for steps in (("work=6000",), ("threads=1500",)):
            for _ in range(3):
                said = self.run_server("greedy", *steps, "content", "work=1000")
                lost = sum(map(int, re.findall(r"records lost: (\d+) \(no file: \d+\)\n", said)))
                done = self.run_records()
                self.assertEqual(len(done) + lost, 7000, said)
                self.assertEqual(sorted(done)[-1000:], list(range(6001, 7001)))
                shutil.rmtree(self.path("trace"))

    def run_records(self) -> list[int]:
        """babeltrace2 tells of the losses."""
        text = self.succeed(["babeltrace2", self.path("trace")]).stdout
        return [int(n) for n in re.findall(r" n = (\d+)", text)]
