# SPDX-License-Identifier: MIT
"""Threads and signal handlers hit an event that several histograms count: each hit is in each of them once, or dropped."""

from __future__ import annotations

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from histograms import make, objects  # noqa: E402
from support import Case, both, check_all, few_or_many  # noqa: E402

ROUNDS = few_or_many(100, 300)
VALUE = 7  # of each hit
CLEARED = -1  # the last of storm.c's


class Storm(Case):
    def storm(self, sanitizer: str) -> None:
        done = self.succeed([make(self.dir, "storm", sanitizer, "storm"), str(ROUNDS)])
        first, *histograms = objects(done.stdout)
        self.check(first["hits"], histograms)

    def check(self, hits: int, histograms: list[dict]) -> None:
        self.assertGreater(hits, 0)
        for histogram in histograms:
            entries, totals = histogram["entries"], histogram["totals"]
            keys = [json.dumps(entry["keys"]) for entry in entries]
            self.assertEqual(len(set(keys)), len(keys), "a key is there twice")
            self.assertEqual([entry for entry in entries if entry["values"][0] != VALUE * entry["hitcount"]], [])
            self.assertEqual(sum(entry["hitcount"] for entry in entries), totals["hits"])
            if histogram is histograms[CLEARED]:
                self.assertLess(totals["hits"], hits)
            else:
                self.assertEqual(totals["hits"] + totals["dropped"], hits, histogram["trigger"])
        full = histograms[1]
        self.assertEqual(full["totals"]["entries"], 128)
        self.assertGreater(full["totals"]["dropped"], 0)
        self.assertTrue(all(histogram["totals"]["dropped"] == 0 for histogram in histograms if histogram is not full))

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
