# SPDX-License-Identifier: MIT
"""A filter is changed hundreds of times while threads and signal handlers record: the trace has what some filter accepted."""

from __future__ import annotations

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate  # noqa: E402
from support import Case, both, check_all, few_or_many, need  # noqa: E402

CHANGES = few_or_many(300, 1000)
ALWAYS = 50


def accepted(number: int, text: str) -> bool:
    """By any of the filters of storm.c."""
    return (number < 100 or number == 50 or number > 950 or (number & 2 and number < 400) or not number >= 300
            or (text.endswith("s") and number <= 440))


class Storm(Case):
    def storm(self, libtp: str) -> None:
        need(self, "babeltrace2")
        generate(self.dir, os.path.join(HERE, "storm.tp"))
        build(self.path("storm"), os.path.join(HERE, "storm.c"), include=[self.dir], libtp=libtp)
        done = self.succeed([self.path("storm"), self.path("trace"), str(CHANGES)])
        hits, lost = map(int, done.stdout.split())
        self.assertEqual(lost, 0)
        records = re.findall(r'number = (\d+), .*text = "([^"]*)" \}', self.read_by("babeltrace2", self.path("trace")))
        self.assertEqual([record for record in records if not accepted(int(record[0]), record[1])], [])
        self.assertEqual(sum(int(number) == ALWAYS for number, _ in records), hits)

    @both
    def test_as_shipped(self) -> None:
        self.storm("static")

    @check_all("test_as_shipped is enough before a commit")
    def test_address_sanitizer(self) -> None:
        self.storm("asan")

    @check_all("test_as_shipped is enough before a commit")
    def test_thread_sanitizer(self) -> None:
        self.storm("tsan")
