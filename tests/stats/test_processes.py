# SPDX-License-Identifier: MIT
"""Statistics of programs that fork: no lock waits for ever. tests/daemons/ has those of daemons."""

from __future__ import annotations

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "ctf"))

from building import build  # noqa: E402
from recording import Recording  # noqa: E402
from support import both, few_or_many, read, temporary  # noqa: E402

SECONDS = str(few_or_many(1, 3))
STALL = 90


class Processes(Recording):
    built: str  # the directory of the program

    @classmethod
    def setUpClass(cls) -> None:
        cls.built = temporary()
        # Without a sanitizer, which has a malloc of its own.
        build(os.path.join(cls.built, "storm"), os.path.join(HERE, "storm.c"), libtp="static")

    def begin(self, *args: str, output: str) -> subprocess.Popen:
        env = self.environment(TP_OUTPUT=output, TP_ENABLE="*")
        with open(self.path("err"), "wb") as err:
            process = subprocess.Popen([os.path.join(self.built, "storm"), *args], cwd=self.dir, env=env, stderr=err,
                                       stdin=subprocess.PIPE, start_new_session=True)
        self.addCleanup(self.end, process)
        return process

    def comes_to_its_end(self, output: str) -> None:
        process = self.begin(SECONDS, self.path("others"), output=f"stats:{self.path('stats')},"
                             f"interval=0.01,by=thread,children=live;{output}")
        try:
            self.assertEqual(process.wait(STALL), 0, read(self.path("err")))
        except subprocess.TimeoutExpired:
            self.fail(f"has not ended after {STALL} s: its locks wait for one another")
        self.assertRegex(read(self.path("err")), r"\A(tp: [^\n]*: records lost: [^\n]*\n)*\Z")
        self.assertIn("marker:malloc ", read(self.path("stats")))

    @both
    def test_storm_beside_a_trace(self) -> None:
        self.comes_to_its_end(f"ctf:{self.trace},mode=flight,size=1M")

    @both
    def test_storm_beside_text(self) -> None:
        self.comes_to_its_end("text:/dev/null")
