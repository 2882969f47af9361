# SPDX-License-Identifier: MIT
"""What the recorder holds on the disk is never more than it was allowed to."""

from __future__ import annotations

import os
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import PREPARE, Recording, disk_usage, files  # noqa: E402
from support import both, check_all, until  # noqa: E402

LIMIT = 1  # TP_LOST_LIMIT
KB = 1024


class Limits(Recording):
    def never_more(self, output: str, limit: int, *commands: object, for_a_while: int = 0) -> str:
        """The process is stopped now and then, and its files are counted."""
        process = self.start(f"open={self.trace},{output}", *commands, "wait", "stop", "lost", "close")
        until(lambda: self.hits() > 100 or process.poll() is not None, self.repeat)
        most = 0
        for _ in range(15):
            time.sleep(0.005)
            os.kill(process.pid, signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            most = max(most, disk_usage(self.trace))
            os.kill(process.pid, signal.SIGCONT)
        self.wait_for_line()
        self.go_on(process)
        out = self.finish(process, message=self.LOST_ONLY)
        self.assertLessEqual(most, limit + for_a_while, self.repeat)
        self.assertLessEqual(disk_usage(self.trace), limit, self.repeat)
        return out

    def keeps_newest(self, output: str, limit: int, threads: int, at_least: int, packet: int = 8 * KB) -> None:
        """With a preparer, a thread makes one more where the next is just being made."""
        out = self.never_more(output, limit, f"threads={threads}", "until=30000",
                              for_a_while=threads * packet if "prepare" in output else 0)
        self.assertIn("lost 0\n", out)
        self.all_is_there(newest=True)
        used = sum(os.stat(name).st_blocks * 512 for name in files(self.trace))
        self.assertGreaterEqual(used, at_least, self.repeat)

    @both
    def test_flight(self) -> None:
        for rng in self.rounds(3):
            packet, packets, threads = rng.choice((4, 16, 64)) * KB, rng.randint(2, 5), rng.randint(1, 4)
            self.keeps_newest(f"mode=flight,packet={packet},packets={packets}{rng.choice(PREPARE)}",
                              packet * packets * threads, threads, packet * (packets - 2) * threads, packet)
            self.rings_are_full(packets)

    @both
    def test_flight_of_a_size(self) -> None:
        for rng in self.rounds(3):
            threads = rng.randint(1, 4)
            size = rng.choice((128, 256, 1000)) * KB
            self.keeps_newest(f"mode=flight,packet=8K,size={size}{rng.choice(PREPARE)}", size, threads, size * 3 // 4)

    @check_all("another sanitizer")
    def test_thread_sanitizer(self) -> None:
        """Threads go round in their own packets, while others begin and take some of them away."""
        self.sanitizer = "tsan"
        self.record(f"open={self.trace},mode=flight,packet=4K,size=64K", "threads=4", "until=20000", "stop", "close")

    def test_stream_that_overwrites(self) -> None:
        self.keeps_newest(f"packet=16K,size={256 * KB},full=overwrite", 256 * KB, 2, 128 * KB)

    def keeps_oldest(self, output: str, limit: int, threads: int, at_least: int) -> None:
        out = self.never_more(output, limit, f"threads={threads}", "untillost=5000")
        trace = self.all_is_counted()
        lost = [line.split() for line in out.splitlines() if line.startswith("lost-")]
        self.assertEqual([name for name, count in lost if count != "0"], [f"lost-{LIMIT}"], out)
        for i, seen in trace.seen.items():
            self.assertEqual(seen.first, 0)
            # Into what is left of a packet, a smaller event may still go.
            self.assertLess(seen.events - seen.whole, 100, f"{i} {seen} {self.repeat}")
        self.assertGreaterEqual(disk_usage(self.trace), at_least, self.repeat)

    def test_stream_that_discards(self) -> None:
        self.keeps_oldest(f"packet=16K,size={256 * KB},prepare=self", 256 * KB, 2, 128 * KB)

    def test_stream_that_discards_with_the_helper(self) -> None:
        """What the helper has saved counts, too."""
        self.never_more(f"packet=16K,size={256 * KB}", 256 * KB, "threads=2", "untillost=5000")
        self.all_is_counted()
        self.assertGreaterEqual(disk_usage(self.trace), 128 * KB, self.repeat)

    def test_packets_of_a_stream(self) -> None:
        self.keeps_oldest("packet=16K,packets=4", 4 * 16 * KB * 3, 3, 2 * 16 * KB * 3)
        self.assertLessEqual(len(files(self.trace)), 12)

    def test_size_for_a_process(self) -> None:
        """Children have a bound of their own."""
        self.record(f"open={self.trace},mode=flight,packet=8K,size=64K", "threads=2", "until=3000", "fork=2",
                    "threads=2", "until=3000", "stop", "parent", "reap", "stop", "close")
        self.assertLessEqual(disk_usage(self.trace), 3 * 64 * KB)
        trace = self.read_clean()
        newest = {i: who for i, who in self.whos().items() if i in trace.seen}
        self.assertGreaterEqual(len(newest), 6)
        self.compare(newest, trace, newest=True)
