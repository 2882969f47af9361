# SPDX-License-Identifier: MIT
"""Signals hit threads that record, in handlers that record, while packets change."""

from __future__ import annotations

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import PREPARE, Recording, Trace  # noqa: E402
from support import both  # noqa: E402


class Storm(Recording):
    SHARES = 3
    RATES = (1000, 5000, 20000)  # a second, of each of three signals, for each thread

    def storm(self, output: str, *commands: object) -> tuple[str, Trace]:
        out = self.record(f"open={self.trace},{output}", *commands, "stop", "lost", "close", message=self.LOST_ONLY)
        return out, self.all_is_counted()

    @both
    def test_nothing_is_torn_or_lost_uncounted(self) -> None:
        for rng in self.rounds(3):
            out, trace = self.storm(f"packet={rng.choice((4, 4, 8, 64))}K{rng.choice(PREPARE)}",
                                    f"text={rng.choice((8, 64, 500))}",
                                    f"signals={rng.choice(self.RATES)}", f"threads={rng.randint(1, 4)}", "sleep=150000")
            lost = int(re.search(r"^lost (\d+)$", out, re.M)[1])
            self.assertEqual(trace.discarded, lost, self.repeat)
            handlers = sum(who.hits for i, who in self.whos().items() if i % 4)
            self.assertGreater(handlers, 50, self.repeat)
            self.assertLess(lost, handlers, self.repeat)

    @both
    def test_flight_recorder(self) -> None:
        """A sequence has gaps only where records were lost."""
        for rng in self.rounds(2):
            flight = f"mode=flight,packet={rng.choice((4, 8, 64))}K,packets={rng.randint(2, 4)}{rng.choice(PREPARE)}"
            out = self.record(f"open={self.trace},{flight}", f"signals={rng.choice(self.RATES)}",
                              f"threads={rng.randint(1, 4)}", "sleep=150000", "stop", "lost", "close",
                              message=self.LOST_ONLY)
            lost = int(re.search(r"^lost (\d+)$", out, re.M)[1])
            trace = self.read_trace()
            self.compare(self.whos(), trace, lost=True)
            self.assertLessEqual(sum(seen.breaks for seen in trace.seen.values()), lost)
            self.assertLessEqual(trace.discarded, lost)

    @both
    def test_with_forks(self) -> None:
        for rng in self.rounds(2):
            self.storm(f"packet={rng.choice((4, 16))}K", "signals=2000", "forks=3000", f"threads={rng.randint(1, 3)}",
                       "sleep=200000")
