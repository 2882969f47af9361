# SPDX-License-Identifier: MIT
"""tp report --follow: each event is shown once, in the order of time, also those of new threads, packets, traces and events."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stepping import TP, Stepping  # noqa: E402
from support import PATIENCE, read, run, until  # noqa: E402


class Follow(Stepping):
    def follow(self, *arguments: str) -> subprocess.Popen:
        self.output = self.path("output")
        with open(self.output, "w", encoding="utf-8") as file:
            process = subprocess.Popen([TP, "report", "--follow", *arguments], stdout=file, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.close, process)
        return process

    def lines(self) -> list[str]:
        return read(self.output).splitlines()

    def wait_for(self, nr: int) -> None:
        until(lambda: len(self.lines()) >= nr, f"{nr} lines")
        self.assertEqual(len(self.lines()), nr)

    def finish(self, follower: subprocess.Popen, sig: int = signal.SIGINT) -> None:
        follower.send_signal(sig)
        _, said = follower.communicate(timeout=PATIENCE)
        self.assertEqual((follower.returncode, said), (0, ""))

    def compare(self, *arguments: str) -> None:
        """The lines, but for the times: the trace says at its end more exactly how fast its clock was."""
        def timeless(lines: list[str]) -> list[str]:
            return sorted(re.sub(r"\d{10}\.\d{9}( \([+-][\d.]+\))?: ", "", line) for line in lines)
        got, want = timeless(self.lines()), timeless(run([TP, "report", *arguments]).stdout.splitlines())
        self.assertTrue(got == want, [pair for pair in zip(got, want) if pair[0] != pair[1]][:3])

    def begun(self) -> subprocess.Popen:
        process = self.begin()
        self.step(process, "hit", 1)
        return process

    def test_grows(self) -> None:
        process = self.begun()
        follower = self.follow("-e", "step", self.trace)
        self.wait_for(1)
        total = 1
        for word, nr in (("hit", 1), ("hit", 500), ("thread", 20), ("hit", 20000), ("thread", 7), ("hit", 3)):
            self.step(process, word, nr)
            total += nr
            self.wait_for(total)
        process.communicate()
        self.finish(follower)
        self.compare("-e", "step", self.trace)
        self.assertEqual([int(re.search(r"n=(\d+)", line)[1]) for line in self.lines()], list(range(total)))

    def test_packets_and_chapters(self) -> None:
        process = self.begin(options=",packet=16K")
        self.step(process, "hit", 10)
        follower = self.follow("-e", "step", self.trace)
        for number in range(6):
            self.step(process, "hit", 700)
            self.wait_for(10 + 700 * (number + 1))
        process.communicate()
        self.finish(follower, signal.SIGTERM)

    def test_rotation(self) -> None:
        """The chapters of a trace, in the directory that they are in."""
        os.mkdir(self.path("all"))
        process = self.begin(self.path("all/trace"), ",rotate=64K,packet=16K")
        self.step(process, "hit", 10)
        follower = self.follow("-e", "step", self.path("all"))
        total = 10
        self.wait_for(total)
        for _ in range(12):
            self.step(process, "hit", 400)
            total += 400
            self.wait_for(total)
        self.assertGreater(len(os.listdir(self.path("all"))), 2)
        process.communicate()
        self.finish(follower)
        self.compare("-e", "step", self.path("all"))

    def test_new_traces(self) -> None:
        """Of processes that come later."""
        os.mkdir(self.path("all"))
        first = self.begin(self.path("all/b"))
        self.step(first, "hit", 5)
        follower = self.follow("-e", "step", self.path("all"))
        self.wait_for(5)
        for number, name in enumerate("ca"):
            other = self.begin(self.path(f"all/{name}"))
            self.step(other, "thread", 10)
            self.step(first, "hit", 1)
            self.wait_for(5 + 11 * (number + 1))
            other.communicate()
        self.step(first, "hit", 5)
        self.wait_for(32)
        first.communicate()
        self.finish(follower)
        self.compare("-e", "step", self.path("all"))

    def test_limits(self) -> None:
        """With -n it ends by itself; --delta goes on; a reader that goes away ends it."""
        process = self.begun()
        follower = self.follow("-n", "5", "--delta", "-e", "step", self.trace)
        self.wait_for(1)
        self.step(process, "hit", 2)
        self.wait_for(3)
        self.step(process, "hit", 10)
        follower.communicate(timeout=PATIENCE)
        self.assertEqual(follower.returncode, 0)
        self.wait_for(5)
        times = [re.search(r"(\d{10})\.(\d{9}) \(\+(\d+)\.(\d{9})\): ", line).groups() for line in self.lines()]
        stamps, deltas = [int(a + b) for a, b, _, _ in times], [int(c + d) for _, _, c, d in times]
        self.assertEqual(deltas, [now - before for before, now in zip(stamps[:1] + stamps, stamps)])
        self.compare("-n", "5", "--delta", "-e", "step", self.trace)
        with subprocess.Popen([TP, "report", "--follow", self.trace], stdout=subprocess.PIPE) as follower:
            assert follower.stdout
            follower.stdout.readline()
            follower.stdout.close()
            until(lambda: self.step(process, "hit", 1) or follower.poll() is not None, "its end")
            self.assertEqual(follower.returncode, -signal.SIGPIPE)

    def test_terminal(self) -> None:
        """^C ends it, and leaves a clean line."""
        process = self.begun()
        for columns in (80, 120):
            terminal = self.terminal("--follow", "-e", "step", self.trace, columns=columns)
            terminal.wait_for("n=0 ")
            terminal.type(b"\x03")
            self.assertEqual(terminal.end(), 0)
            self.assertRegex(terminal.text(), r"(?s)\A\x1b\[2m# .*n=0 x=0.0\r\n\^C\r\n\Z")
        process.communicate()

    def test_a_flight_recorder(self) -> None:
        """Its packets may go while they are followed: it says so."""
        process = self.begin(options=",mode=flight,packet=16K,packets=2")
        self.step(process, "hit", 10)
        follower = self.follow("-e", "step", self.trace)
        self.wait_for(10)
        self.step(process, "hit", 30000)
        until(lambda: len(self.lines()) > 10 or follower.poll() is not None, "lines")
        if follower.poll() is None:
            self.finish(follower)

    def test_wrong(self) -> None:
        done = run([TP, "report", "--follow", self.path("nono")])
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.begun()
        done = run([TP, "report", "--follow", "-e", "nono", self.trace])
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Atp: no event in .* matches 'nono'\n\Z")


if __name__ == "__main__":
    unittest.main()
