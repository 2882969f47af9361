# SPDX-License-Identifier: MIT
"""tp report --summary: what it counts is what the lines have."""

from __future__ import annotations

import glob
import json
import os
import re
import struct
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stepping import TP, Stepping  # noqa: E402
from support import PACKET_HEAD, run  # noqa: E402

LINE = re.compile(r" *(.*?) +(\d+)/(\d+) +(\d{10})\.(\d{9}): (?:(\S+:\S+): .*|\[LOST (?:(\d+) )?EVENTS\])")


class Summary(Stepping):
    def counted(self, *arguments: str) -> dict[str, dict]:
        """By event, thread and process, from the lines."""
        found: dict[str, dict] = {}
        last: dict[tuple[str, str], int] = {}
        for line in run([TP, "report", *arguments]).stdout.splitlines():
            match = LINE.fullmatch(line)
            self.assertTrue(match, line)
            name, pid, tid, seconds, ns, event, lost = match.groups()
            keys = [f"{name} {pid}/{tid}", f"{name} {pid}", "all"] + ([event] if event else [])
            time = int(seconds + ns)
            for key in keys:
                one = found.setdefault(key, {"hits": 0, "intervals": [], "lost": 0, "unknown": False})
                if not event:
                    one["lost"] += int(lost or 0)
                    one["unknown"] = one["unknown"] or not lost
                    continue
                one["hits"] += 1
                one.setdefault("first", time)
                one["last"] = time
                if (tid, event) in last:
                    one["intervals"].append(time - last[tid, event])
            if event:
                last[tid, event] = time
        return found

    def check(self, *arguments: str) -> dict:
        want = self.counted(*arguments)
        done = run([TP, "report", "--summary", "--json", *arguments])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        got = json.loads(done.stdout)
        rows = {"all": got}
        rows.update({row["event"]: row for row in got["events"]})
        rows.update({f"{row['name']} {row['pid']}": row for row in got["processes"]})
        rows.update({f"{row['name']} {row['pid']}/{row['tid']}": row for row in got["threads"]})
        self.assertEqual(set(rows), set(want))
        for key, one in want.items():
            row = rows[key]
            self.assertEqual((row["hits"], row["intervals"]), (one["hits"], len(one["intervals"])), key)
            if one["hits"]:
                self.assertEqual((row["first_ns"], row["last_ns"]), (one["first"], one["last"]), key)
            if one["intervals"]:
                self.assertEqual((row["interval_min_ns"], row["interval_max_ns"]), (min(one["intervals"]), max(one["intervals"])), key)
                self.assertAlmostEqual(row["interval_mean_ns"], sum(one["intervals"]) / len(one["intervals"]), 0)
            if "event" not in row:
                self.assertEqual((row["lost"], row["packets_missing"]), (one["lost"], one["unknown"]), key)
        self.assertEqual([row["event"] for row in got["events"]],
                         [name for name, _ in sorted(((e["event"], e["hits"]) for e in got["events"]), key=lambda e: (-e[1], e[0]))])
        return got

    def test_counts(self) -> None:
        self.record(("hit", 1000), ("thread", 500), ("hit", 30), ("thread", 7))
        got = self.check(self.trace)
        self.assertEqual([row["hits"] for row in got["events"]], [1537, 513, 2])
        self.check("-e", "step if n < 700; rare", self.trace)
        self.check("--since", "+1us", "--until", "-1us", self.trace)
        self.check("-n", "100", self.trace)

    def test_several_traces(self) -> None:
        os.mkdir(self.path("all"))
        for number in range(3):
            self.record(("hit", 100 * number + 10), ("thread", 5), trace=self.path(f"all/{number}"))
        got = self.check(self.path("all"))
        self.assertEqual(len(got["processes"]), 3)
        text = run([TP, "report", "--summary", self.path("all")]).stdout
        self.assertRegex(text, r"(?s)^from 2\d{3}-\S+ \S+ to \S+ \S+ UTC, [\d.]+ s\n\d+ events of 3 processes and \d threads; lost: 0\n"
                         r"\nEVENT +HITS +RATE/s +MIN +MEAN +MAX +FIRST +LAST\nstep:step +345 .*\nall +\d+ .*"
                         r"\n\nPROCESS +HITS .*\nstep \d+ +.*\n\nTHREAD +HITS .*\nstep \d+/\d+ .*\n\Z")

    def test_lost(self) -> None:
        """As the trace has it: numbers, and packets that are missing. It knows no causes."""
        self.record(("hit", 5000), options=",packet=16K")
        packets = sorted(glob.glob(os.path.join(self.trace, "stream-*")), key=lambda p: int(p.rsplit("-", 1)[1]))
        for number, lost in ((1, 7), (2, 7), (3, 12)):
            with open(packets[number], "r+b") as file:
                file.seek(PACKET_HEAD["events_discarded"])
                file.write(struct.pack("=Q", lost))
        for path in packets[4:]:
            with open(path, "r+b") as file:
                file.seek(PACKET_HEAD["events_discarded"])
                file.write(struct.pack("=Q", 12))
        got = self.check(self.trace)
        self.assertEqual((got["lost"], got["packets_missing"]), (12, False))
        self.assertRegex(run([TP, "report", "--summary", self.trace]).stdout, r"(?s); lost: 12\n.*LOST\nstep .* 12\n\Z")
        os.unlink(packets[2])
        got = self.check(self.trace)
        self.assertEqual(got["packets_missing"], True)
        self.assertIn(", and those of packets that are missing\n", run([TP, "report", "--summary", self.trace]).stdout)

    def test_terminal(self) -> None:
        """The columns that a narrow one has no room for are left out."""
        self.record(("hit", 1000), ("thread", 3))
        for columns in (80, 120):
            terminal = self.terminal("--summary", "--no-pager", "--color=never", self.trace, columns=columns)
            self.assertEqual(terminal.end(), 0)
            lines = terminal.text().replace("\r", "").splitlines()
            self.assertTrue(lines[0].startswith(f"# {self.trace}: /"))
            self.assertEqual("FIRST" in terminal.text(), columns == 120)
            for line in lines[1:]:
                self.assertLessEqual(len(line), columns, line)

    def test_empty(self) -> None:
        self.record()
        self.assertEqual(run([TP, "report", "--summary", self.trace]).stdout, "0 events of 0 processes and 0 threads; lost: 0\n")
        self.assertEqual(json.loads(run([TP, "report", "--summary", "--json", self.trace]).stdout)["events"], [])

    def test_memory_does_not_grow(self) -> None:
        """With less of it than the trace is long."""
        self.record(("hit", 1500000), options=",packet=4M")
        self.assertGreater(sum(os.stat(path).st_size for path in glob.glob(os.path.join(self.trace, "stream-*"))), 50 << 20)
        done = run(["sh", "-c", 'ulimit -v 30000; exec "$@"', "sh", TP, "report", "--summary", self.trace])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\nstep:step +1500000 ")

    def test_full_disk(self) -> None:
        self.record(("hit", 10))
        done = run(["sh", "-c", 'exec "$@" >/dev/full', "sh", TP, "report", "--summary", self.trace])
        self.assertEqual((done.returncode, done.stderr), (1, "tp: the output can't be written: No space left on device\n"))

    def test_wrong_calls(self) -> None:
        for arguments in (("--json", self.dir), ("--summary", "--follow", self.dir), ("-n", "0", self.dir), ("-n", "x", self.dir),
                          ("-n", "-1", self.dir), ("--color=blue", self.dir)):
            done = run([TP, "report", *arguments])
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertRegex(done.stderr, r"\Atp: report: .*; \"tp help report\" says how it is called\n\Z")


if __name__ == "__main__":
    unittest.main()
