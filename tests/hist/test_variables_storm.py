# SPDX-License-Identifier: MIT
"""Threads and signal handlers share variables and what actions save: nothing is torn, read twice, or forgotten."""

from __future__ import annotations

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from histograms import make, objects  # noqa: E402
from support import Case, both, check_all, few_or_many  # noqa: E402

ROUNDS = few_or_many(100, 300)


class Storm(Case):
    def storm(self, sanitizer: str) -> None:
        done = self.succeed([make(self.dir, "variables", sanitizer, "tasks"), str(ROUNDS)])
        self.assertEqual(done.stderr, "")
        found = objects(done.stdout)
        numbers, once, reports = found[-1], found[-4], found[:-4] + found[-3:-1]
        self.assertEqual((numbers["torn"], numbers["lost"]), (0, 0))
        self.assertGreater(numbers["records"], 0)
        self.assertGreater(numbers["snapshots"], 0)
        # Each time that the variable was set, at most one hit has read it: of this histogram, or of those that came and went.
        self.assertLessEqual(once["totals"]["hits"], numbers["set"])
        self.assertGreater(once["totals"]["hits"], 0)
        largest = 0
        for report in reports:
            for entry in report["entries"]:
                tracked = entry["tracked"][0]
                value = tracked.get("max", tracked.get("changed"))
                # An entry that has just come has nothing yet.
                if "saved" in tracked:
                    self.assertEqual(tracked["saved"], {"pid": value, "comm": str(value)})
                if "max" in tracked:
                    self.assertGreaterEqual(value, largest)
                    largest = value
        self.assertEqual(largest, numbers["highest"])

    @both
    def test_as_shipped(self) -> None:
        self.storm("")

    @check_all("test_as_shipped is enough before a commit")
    def test_address_sanitizer(self) -> None:
        self.storm("asan")

    @check_all("test_as_shipped is enough before a commit")
    def test_thread_sanitizer(self) -> None:
        self.storm("tsan")


if __name__ == "__main__":
    unittest.main()
