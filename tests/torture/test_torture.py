# SPDX-License-Identifier: MIT
"""The torture test of tracepoints and probes, shortly, in all its variants. "make torture" runs it for longer."""

from __future__ import annotations

import concurrent.futures
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from variants import PATIENCE, STALL, Outcome, torture, variants  # noqa: E402

SECONDS = 2
TIMEOUT = SECONDS + PATIENCE + 2 * STALL


class Torture(unittest.TestCase):
    """One variant, which has run already."""

    def __init__(self, outcome: Outcome):
        super().__init__("survives")
        self.outcome = outcome

    def survives(self) -> None:
        outcome = self.outcome
        if outcome.skipped:
            self.skipTest(outcome.skipped)
        if outcome.failed:
            self.fail(outcome.failed)

    def __str__(self) -> str:
        return f"torture {self.outcome.variant.name}"


def load_tests(*_):
    # Together, as most of a run is waiting: what disturbs is welcome.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        outcomes = pool.map(lambda v: torture(v, [f"seconds={SECONDS}"], TIMEOUT), variants())
        return unittest.TestSuite(Torture(outcome) for outcome in outcomes)
