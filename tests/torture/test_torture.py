# SPDX-License-Identifier: MIT
"""The torture test of tracepoints and probes, shortly, in all its variants. "make torture" runs it for longer."""

from __future__ import annotations

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from support import check_all  # noqa: E402
from variants import PATIENCE, STALL, Variant, torture, variants  # noqa: E402

SECONDS = 2
TIMEOUT = SECONDS + PATIENCE + 2 * STALL


class Torture(unittest.TestCase):
    def __init__(self, variant: Variant):
        super().__init__("survives")
        self.variant = variant

    def id(self) -> str:
        return f"test_torture.{self.variant.name}"

    def survives(self) -> None:
        outcome = torture(self.variant, [f"seconds={SECONDS}"], TIMEOUT)
        if outcome.skipped:
            self.skipTest(outcome.skipped)
        self.assertFalse(outcome.failed)


def load_tests(*_):
    first, *others = map(Torture, variants())
    return unittest.TestSuite([first, *map(check_all("one way to build it is enough before a commit"), others)])
