# SPDX-License-Identifier: MIT
"""Streams are handed on from thread to thread, and are each process's own."""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import Recording, files  # noqa: E402

AT_ONCE = 32


class Streams(Recording):
    def output(self, options: str = "") -> dict[str, str]:
        return {"TP_OUTPUT": f"ctf:{self.trace}{options}"}

    def test_short_lived_threads(self) -> None:
        self.record(f"short=5000,{AT_ONCE}", **self.output())
        self.assertLessEqual(len({name.rsplit("-", 1)[0] for name in files(self.trace)}), AT_ONCE + 8)
        trace = self.all_is_there()
        self.assertEqual((len(trace.seen), trace.events()), (5024, 15072))

    def test_short_lived_threads_of_a_flight_recorder(self) -> None:
        self.record(f"short=1000,{AT_ONCE}", **self.output(",mode=flight,packet=4K,packets=2"))
        self.assertLessEqual(len(files(self.trace)), 2 * (AT_ONCE + 8))
        trace = self.read_clean()
        self.compare({i: who for i, who in self.whos().items() if i in trace.seen}, trace, newest=True)

    def test_forks(self) -> None:
        """Children write their own streams, and nothing is there twice."""
        self.record("threads=2", "until=100", "fork=4", "hit=50", "threads=2", "until=500", "stop", "parent", "hit=50",
                    "until=100", "reap", "stop", **self.output(",packet=8K"))
        self.all_is_there()
        pids = {who.pid for who in self.whos().values()}
        self.assertEqual(len(pids), 5)
        self.assertEqual({os.path.basename(name).split("-")[1] for name in files(self.trace)}, {str(p) for p in pids})

    def test_forks_of_many_threads(self) -> None:
        self.record("forks=300", "limit=9000", "threads=6", "stop", **self.output(",packet=16K"))
        self.all_is_there()
        self.assertEqual(sum(who.hits == 20 for who in self.whos().values()), 6 * 30)

    def test_forks_of_forks(self) -> None:
        self.record("hit=5", "fork=2", "hit=5", "forks=50", "limit=200", "threads=2", "stop", "parent", "hit=5", "reap",
                    **self.output(",packet=4K"))
        self.all_is_there()

    def test_vfork(self) -> None:
        self.record("pace=100", "threads=3", "vfork=100", "hit=5", "stop", **self.output(",packet=8K"))
        self.all_is_there()
        self.assertEqual(len({os.path.basename(name).split("-")[1] for name in files(self.trace)}), 1)

    def test_daemon(self) -> None:
        """It has closed all descriptors and changed its directory; its parents are gone."""
        self.record("hit=100", "daemon", "hit=100", "threads=2", "until=2000", "stop", TP_OUTPUT="ctf:trace,packet=4K")
        trace = self.all_is_there()
        self.assertEqual(len({who.pid for who in self.whos().values()}), 2)
        self.assertGreater(trace.events(), 4200)
