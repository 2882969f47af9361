# SPDX-License-Identifier: MIT
"""A trace can be read while it is written, and copied out of a flight recorder."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import PREPARE, Recording, files  # noqa: E402
from support import both, until  # noqa: E402


class Live(Recording):
    @both
    def test_read_while_it_is_written(self) -> None:
        for rng in self.rounds(2):
            process = self.start("pace=20", f"threads={rng.randint(1, 4)}", "sleep=600000000",
                                 TP_OUTPUT=f"ctf:{self.trace},packet={rng.choice((4, 8, 64))}K{rng.choice(PREPARE)}")
            until(self.hits, self.repeat)
            for _ in range(8):
                before = self.whos()
                trace = self.read_trace(live=True)
                after = self.whos()
                self.assertEqual(process.poll(), None)
                for i, who in before.items():
                    seen = trace.seen.get(i)
                    text = f"{i}: {who} {seen} {after[i]} {self.repeat}"
                    self.assertTrue(seen or not who.hits, text)
                    if seen:
                        self.assertEqual(seen.first, 0, text)
                        self.assertTrue(who.hits <= seen.whole and seen.last <= after[i].hits, text)
            self.end(process)

    @both
    def test_snapshots(self) -> None:
        for rng in self.rounds(2):
            nr = 10
            flight = f"mode=flight,packet={rng.choice((4, 8, 16, 64))}K,packets={rng.randint(2, 5)}"
            flight += rng.choice(PREPARE)
            self.record(f"open={self.trace},{flight}", f"threads={rng.randint(1, 4)}", "until=100",
                        f"snapshots={self.trace}-copy,{nr}", "stop", "close")
            for i in range(nr):
                copy = f"{self.trace}-copy-{i}"
                trace = self.read_clean(copy)
                before = self.whos(f"{copy}.shared")
                for at, seen in trace.seen.items():
                    self.assertEqual(seen.breaks, 0, f"{copy}: {at} {seen} {self.repeat}")
                for at, who in before.items():
                    seen = trace.seen.get(at)
                    self.assertTrue(seen or not who.hits, f"{copy}: {at} {who} {self.repeat}")
                    if seen:
                        self.assertGreaterEqual(seen.last + 1, who.hits, f"{copy}: {at} {self.repeat}")
            self.assertTrue(files(self.trace))
            self.all_is_there(newest=True)
