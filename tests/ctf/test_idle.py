# SPDX-License-Identifier: MIT
"""A program with tracepoints that nobody has enabled has no more than the program."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import Recording  # noqa: E402
from support import read, until  # noqa: E402


class Idle(Recording):
    def look(self, *commands: object) -> list[dict[str, int]]:
        """What the process has mapped at each "wait": bytes, by what."""
        process = self.start(*commands)
        found = []
        for _ in range(commands.count("wait")):
            until(lambda: read(self.path("out")).count("waiting\n") > len(found), self.repeat)
            proc = f"/proc/{process.pid}"
            until(lambda proc=proc: len(os.listdir(f"{proc}/task")) == 1, "the kernel lists a thread for a moment behind pthread_join()")
            self.assertEqual(sorted(os.listdir(f"{proc}/fd")), ["0", "1", "2"])
            self.assertEqual(set(os.listdir(self.dir)), {"shared", "out", "err"})
            found.append(self.mapped(read(f"{proc}/maps")))
            self.go_on(process)
        self.finish(process)
        return found

    def mapped(self, maps: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for line in maps.splitlines():
            match = re.match(r"([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ \d+ *(.*)", line)
            assert match
            found[match[3]] = found.get(match[3], 0) + int(match[2], 16) - int(match[1], 16)
        return found

    def test_nothing_is_made(self) -> None:
        before, after = self.look("wait", "hit=1000000", "wait")
        self.assertEqual(before, after)

    def test_little_is_there_from_the_start(self) -> None:
        """Of memory that is no file's; 104 KB are the texts of the recorder."""
        self.assertLessEqual(self.look("wait")[0][""], 256 << 10)

    def test_threads_cost_nothing(self) -> None:
        before, after = self.look("limit=1000", "threads=4", "stop", "wait", "threads=4", "stop", "wait")
        self.assertEqual(before, after)
