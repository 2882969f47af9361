# SPDX-License-Identifier: MIT
"""Triggers are set and taken off, and sinks closed, while threads and signal handlers fire them."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from support import Case, both, check_all, few_or_many, need, reader  # noqa: E402

ROUNDS = few_or_many(60, 300)


class Storm(Case):
    def storm(self, libtp: str, mode: str = "flight") -> None:
        need(self, "babeltrace2")
        generate(self.dir, os.path.join(HERE, "shop.tp"))
        build(self.path("storm"), os.path.join(HERE, "storm.c"), include=[self.dir], libtp=libtp)
        self.succeed([self.path("storm"), self.path("trace"), str(ROUNDS), mode])
        snapshots = [name for name in os.listdir(self.dir) if "-snapshot-" in name]
        self.assertEqual(bool(snapshots), mode == "flight")
        for name in ["trace", *snapshots[:5]]:
            done = reader(["babeltrace2", self.path(name)])
            self.assertEqual(done.returncode, 0, done.stderr)
            # Records of a handler that has interrupted the sink itself may be lost; they are counted then.
            self.assertEqual([line for line in done.stderr.splitlines() if "discarded" not in line], [])

    @both
    def test_as_shipped(self) -> None:
        self.storm("static")

    @check_all("test_as_shipped is enough before a commit")
    def test_address_sanitizer(self) -> None:
        self.storm("asan")

    @check_all("test_as_shipped is enough before a commit")
    def test_thread_sanitizer(self) -> None:
        self.storm("tsan", "plain")
