# SPDX-License-Identifier: MIT
"""Threads and signal handlers hit an event that several histograms count: each hit is in each of them once, or dropped."""

from __future__ import annotations

import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from histograms import visible  # noqa: E402
from support import ROOT, Case  # noqa: E402

ROUNDS = 300
VALUE = 7  # of each hit
CLEARED = -1  # the last of storm.c's


class Storm(Case):
    def storm(self, sanitizer: str) -> None:
        generate(self.dir, os.path.join(HERE, "storm.tp"))
        how = {"libtp": "", **visible(sanitizer)} if sanitizer else {}
        flags = ["-rdynamic", "-iquote", os.path.join(ROOT, "runtime/src"), *how.pop("flags", [])]
        build(self.path("storm"), os.path.join(HERE, "storm.c"), include=[self.dir], flags=flags, **how)
        done = self.succeed([self.path("storm"), str(ROUNDS)])
        decoder, at, objects = json.JSONDecoder(), 0, []
        while at < len(done.stdout):
            made, at = decoder.raw_decode(done.stdout, at)
            objects.append(made)
            at += 1  # the newline
        self.check(objects[0]["hits"], objects[1:])

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

    def test_as_shipped(self) -> None:
        self.storm("")

    def test_address_sanitizer(self) -> None:
        self.storm("asan")

    def test_thread_sanitizer(self) -> None:
        self.storm("tsan")


if __name__ == "__main__":
    unittest.main()
