# SPDX-License-Identifier: MIT
"""A trace can be read while it is written, and copied out of a flight recorder."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import BinaryIO

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import PACKET, PREPARE, Recording, files  # noqa: E402
from support import both, until  # noqa: E402


class Live(Recording):
    @both
    def test_read_while_it_is_written(self) -> None:
        for rng in self.rounds(2):
            process = self.start("pace=20", f"threads={rng.randint(1, 4)}", "sleep=600000000",
                                 TP_OUTPUT=f"ctf:{self.trace},packet={rng.choice((4, 8, 64))}K{rng.choice(PREPARE)}")
            until(self.hits, self.repeat)
            for _ in range(8):
                before = self.whos()
                trace = self.read_trace(live=True)
                after = self.whos()
                self.assertEqual(process.poll(), None)
                for i, who in before.items():
                    seen = trace.seen.get(i)
                    text = f"{i}: {who} {seen} {after[i]} {self.repeat}"
                    self.assertTrue(seen or not who.hits, text)
                    if seen:
                        self.assertEqual(seen.first, 0, text)
                        self.assertTrue(who.hits <= seen.whole and seen.last <= after[i].hits, text)
            self.end(process)

    def open_packets(self) -> list[BinaryIO]:
        found: list[BinaryIO] = []
        for name in files(self.trace):
            with contextlib.suppress(FileNotFoundError):
                found.append(open(name, "rb", buffering=0))  # pylint: disable=consider-using-with
                self.addCleanup(found[-1].close)
        return found

    @staticmethod
    def content(file: BinaryIO) -> tuple[tuple[int, ...], bytes]:
        """What tells one packet from all others, and its events."""
        data = os.pread(file.fileno(), 65536, 0)
        _, _, stream, size, _, begin, _, number, _ = PACKET.unpack_from(data)
        return (stream, begin, number), data[PACKET.size:size // 8]

    @both
    def test_whoever_has_opened_a_packet_reads_it(self) -> None:
        """However late: its file does not become another packet, though others do."""
        process = self.start("pace=20", "threads=2", "until=100", "wait", "closefrom=3", "wait", "stop",
                             TP_OUTPUT=f"ctf:{self.trace},packet=4K")
        for _ in range(2):  # the second time, the program has closed what tells of readers
            for _ in range(5):
                before = self.hits()
                until(lambda before=before: self.hits() > before + 1000, self.repeat)
                opened = self.open_packets()
                was = [self.content(file) for file in opened]
                before = self.hits()
                until(lambda before=before: self.hits() > before + 3000, self.repeat)
                for file, (packet, events) in zip(opened, was):
                    now, more = self.content(file)
                    self.assertEqual(now, packet, self.repeat)
                    self.assertTrue(more.startswith(events), f"{packet}: other events{self.repeat}")
                    file.close()
            self.go_on(process)
        self.finish(process)
        self.all_is_there()

    @both
    def test_snapshots(self) -> None:
        for rng in self.rounds(2):
            nr = 10
            flight = f"mode=flight,packet={rng.choice((4, 8, 16, 64))}K,packets={rng.randint(2, 5)}"
            flight += rng.choice(PREPARE)
            self.record(f"open={self.trace},{flight}", f"threads={rng.randint(1, 4)}", "until=100",
                        f"snapshots={self.trace}-copy,{nr}", "stop", "close")
            for i in range(nr):
                copy = f"{self.trace}-copy-{i}"
                trace = self.read_clean(copy)
                before = self.whos(f"{copy}.shared")
                for at, seen in trace.seen.items():
                    self.assertEqual(seen.breaks, 0, f"{copy}: {at} {seen} {self.repeat}")
                for at, who in before.items():
                    seen = trace.seen.get(at)
                    self.assertTrue(seen or not who.hits, f"{copy}: {at} {who} {self.repeat}")
                    if seen:
                        self.assertGreaterEqual(seen.last + 1, who.hits, f"{copy}: {at} {self.repeat}")
            self.assertTrue(files(self.trace))
            self.all_is_there(newest=True)
