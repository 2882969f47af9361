# SPDX-License-Identifier: MIT
"""tp filter; and filters wherever tp takes events."""

from __future__ import annotations

import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from reaching import Reaching  # noqa: E402
from support import need, until  # noqa: E402


class Filter(Reaching):
    def setUp(self) -> None:
        super().setUp()
        self.process = self.start("loop")
        self.pid = str(self.process.pid)

    def filters(self, *more: str) -> list[str]:
        done = self.tp("filter", "-p", self.pid, *more)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(bool(done.stdout), not done.stderr, done.stderr)
        return [" ".join(line.split()) for line in done.stdout.splitlines()]

    def open(self, events: str, name: str = "text:/dev/null") -> None:
        self.done("outputs", "-p", self.pid, "--open", name, "-e", events)

    def test_changed_and_taken_off(self) -> None:
        self.open("served:*")
        self.assertEqual(self.filters(), [])
        self.assertEqual(self.done("filter", "-p", self.pid, "served_request", "n > 3 && peer ~ \"10.*\""),
                         "1 event filtered on output 1, text:/dev/null\n")
        self.assertEqual(self.filters(), ['1 served_request if n > 3 && peer ~ "10.*"'])
        self.done("filter", "-p", self.pid, "served_request", "n < 0")
        self.assertEqual(self.filters(), ["1 served_request if n < 0"])
        self.assertEqual(self.done("filter", "-p", self.pid, "served_request", "0"),
                         "no filter on output 1, text:/dev/null, for served_request\n")
        self.assertEqual(self.filters(), [])
        self.assertEqual(self.enabled(self.process.pid), ["served:served_idle", "served:served_request"])

    def test_records(self) -> None:
        self.open("served_request,served_idle", "text:lines")
        self.done("filter", "-p", self.pid, "served_request", "peer == \"nobody\"")

        def lines() -> list[str]:
            with open(self.path("lines"), encoding="ascii") as file:
                return re.findall(r"served:(\w+): ", file.read())
        before = len(lines())
        until(lambda: lines()[before + 2:].count("served_idle") > 3)
        self.assertNotIn("served_request", lines()[before + 2:])
        self.done("filter", "-p", self.pid, "served_request", "0")
        before = len(lines())
        until(lambda: "served_request" in lines()[before:])

    def test_events_that_are_off_stay_off(self) -> None:
        self.open("served_idle")
        self.assertIn("no event that matches 'served_request' is on for output 1, text:/dev/null",
                      self.fails("filter", "-p", self.pid, "served_request", "n > 3"))
        self.assertEqual(self.done("filter", "-p", self.pid, "served:*", "n > 3"), "1 event filtered on output 1, text:/dev/null\n")
        self.assertEqual(self.enabled(self.process.pid), ["served:served_idle"])
        self.assertEqual(self.filters(), ["1 served:served_idle if n > 3"])

    def test_outputs(self) -> None:
        """Of several, one is chosen."""
        self.open("served_idle if n > 1")
        self.open("served_idle if n > 2", "stats:counts")
        self.assertEqual(self.filters(), ["1 served_idle if n > 1", "2 served_idle if n > 2"])
        self.assertEqual(self.filters("-o", "counts"), ["2 served_idle if n > 2"])
        self.assertIn("more than one output", self.fails("filter", "-p", self.pid, "served_idle", "n > 3"))
        self.done("filter", "-p", self.pid, "-o", "counts", "served_idle", "n > 3")
        self.assertEqual(self.filters(), ["1 served_idle if n > 1", "2 served_idle if n > 3"])
        self.assertIn("has no output 'x'", self.fails("filter", "-p", self.pid, "-o", "x"))

    def test_mistakes(self) -> None:
        self.assertIn("has no output", self.fails("filter", "-p", self.pid, "served_idle", "n > 3"))
        self.open("served:*")
        self.assertIn("Field not found, at 'm > 3': 'served:served_idle' has n, ",
                      self.fails("filter", "-p", self.pid, "served_idle", "m > 3"))
        self.assertIn("no list of patterns", self.fails("filter", "-p", self.pid, ",", "n > 3"))
        for args in ((), ("-p", self.pid, "served_idle"), ("-p", self.pid, "served_idle", "n", ">"), ("-p", self.pid, "--", "true")):
            self.fails("filter", *args, status=2)
        done = self.tp("filter", "-p", self.pid, "served:*", "peer == \"x\"")
        self.assertEqual((done.returncode, done.stdout), (0, "1 event filtered on output 1, text:/dev/null\n"))
        self.assertRegex(done.stderr, r"\Atp: .*: the filter does not fit 'served:served_idle', .*\n\Z")


class Events(Reaching):
    """-e takes filters: of a process that runs, and of a program."""

    def test_trace(self) -> None:
        process = self.start("loop")
        tp = self.begin("trace", "-p", str(process.pid), "-e", "served_request if n & 1", "-e", "served_idle if n == 0 || n > 1000000")
        lines = [self.next_line(tp.stdout) for _ in range(5)]
        for line in lines:
            self.assertRegex(line, r"served_request: n=\d*[13579] peer")
        self.interrupt(tp)
        done = self.tp("trace", "-e", "served_request if n > 8", "--", self.program, "hit=10")
        self.assertEqual(re.findall(r"served_request: n=(\d+)", done.stdout), ["9", "10"])
        done = self.tp("trace", "-e", "served_request if n > 8 && peer != \";\"", "-e", "served_idle", "--", self.program, "hit=10")
        self.assertEqual(re.findall(r"served_request: n=(\d+)", done.stdout), ["9", "10"])

    def test_record(self) -> None:
        need(self, "babeltrace2")
        done = self.tp("record", "-e", "served_request if n > 8; served_idle", "-o", "trace", "--", self.program, "hit=10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(re.findall(r"\bn = (\d+)", self.read_by("babeltrace2", self.path("trace"))), ["9", "10"])
        process = self.start(f"wait={self.path('go')}", "hit=10", "loop")
        tp = self.begin("record", "-p", str(process.pid), "-e", "served_request if n == 4; served_idle", "-o", "other")
        until(lambda: self.enabled(process.pid))
        self.write("go", "")
        until(lambda: re.search("served_idle", self.done("list", "-p", str(process.pid))) and
              glob.glob(self.path("other/**/metadata"), recursive=True))
        self.counted("^served:served_idle", "stat", "-p", str(process.pid), "-e", "served_idle")
        self.interrupt(tp)
        lines = self.read_by("babeltrace2", self.path("other")).splitlines()
        self.assertEqual([line for line in lines if "served_request" in line and "n = 4," not in line], [])
        self.assertEqual(len([line for line in lines if "served_request" in line]), 1)
        self.assertTrue(any("served_idle" in line for line in lines))

    def test_stat(self) -> None:
        done = self.tp("stat", "-e", "served_request if n > 3", "--", self.program, "hit=10")
        self.assertRegex(done.stdout, r"(?m)^served:served_request +7 ")
        process = self.start("loop")
        out = self.counted("^served:served_idle +[1-9]", "stat", "-p", str(process.pid), "-e", "served_request if n < 0", "-e", "served_idle")
        self.assertNotRegex(out, r"(?m)^served:served_request +[1-9]")

    def test_mistakes(self) -> None:
        process = self.start("loop")
        for command in (("trace",), ("stat",), ("record", "-o", "trace")):
            self.assertIn("Field not found, at 'm > 3'",
                          self.fails(*command, "-p", str(process.pid), "-e", "served_idle if n > 3", "-e", "served_idle if m > 3"), command)
        self.assertFalse(os.path.exists(self.path("trace")))
        self.left_alone(process.pid)
        done = self.tp("stat", "-p", str(process.pid), "-e", "served:* if peer ~ \"1*\"", "--for", "0.05")
        self.assertRegex(done.stderr, r"\Atp: .*: the filter does not fit 'served:served_idle', .*\n\Z")
