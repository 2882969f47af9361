# SPDX-License-Identifier: MIT
"""Threads and signal handlers share variables and what actions save: nothing is torn, read twice, or forgotten."""

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


class Storm(Case):
    def storm(self, sanitizer: str) -> None:
        generate(self.dir, os.path.join(HERE, "tasks.tp"))
        how = {"libtp": "", **visible(sanitizer)} if sanitizer else {}
        flags = ["-rdynamic", "-iquote", os.path.join(ROOT, "runtime/src"), *how.pop("flags", [])]
        build(self.path("variables"), os.path.join(HERE, "variables.c"), include=[self.dir], flags=flags, **how)
        done = self.succeed([self.path("variables"), str(ROUNDS)])
        self.assertEqual(done.stderr, "")
        decoder, at, objects = json.JSONDecoder(), 0, []
        while at < len(done.stdout):
            made, at = decoder.raw_decode(done.stdout, at)
            objects.append(made)
            at += 1  # the newline
        numbers, once, reports = objects[-1], objects[-4], objects[:-4] + objects[-3:-1]
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

    def test_as_shipped(self) -> None:
        self.storm("")

    def test_address_sanitizer(self) -> None:
        self.storm("asan")

    def test_thread_sanitizer(self) -> None:
        self.storm("tsan")


if __name__ == "__main__":
    unittest.main()
