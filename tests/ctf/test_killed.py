# SPDX-License-Identifier: MIT
"""What was recorded is there after the process was killed, at any instant."""

from __future__ import annotations

import os
import random
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from recording import PREPARE, Recording  # noqa: E402
from support import both, until  # noqa: E402


def mode(rng: random.Random) -> tuple[str, int]:
    """Options, and the packets of each thread that there may be; 0 where all are to be kept."""
    output = f",packet={rng.choice((4, 8, 16, 64))}K" if rng.random() < 0.9 else ""
    output += rng.choice(("", "", "", ",context=cpu+pid+name")) + rng.choice(PREPARE)
    chosen = rng.random()
    if chosen < 0.5:
        return output, 0
    if chosen < 0.6:
        return f"{output},size=10G", 0
    packets = rng.randint(2, 5)
    return output + rng.choice((",mode=flight", ",full=overwrite")) + f",packets={packets}", packets


class Killed(Recording):
    SHARES = 3

    def kill(self, rng: random.Random, *commands: object) -> None:
        """Kills all of it a while after it has begun to record; and all is there."""
        output, packets = mode(rng)
        env = {"TP_CLOCK": "monotonic"} if rng.random() < 0.3 else {}
        process = self.start(*commands, TP_OUTPUT=f"ctf:{self.trace}{output}", **env)
        until(lambda: self.hits() or process.poll() is not None, self.repeat)
        time.sleep(rng.expovariate(1 / 0.004))
        os.killpg(process.pid, signal.SIGKILL)
        self.finish(process, -signal.SIGKILL)
        self.all_is_there(on_their_way=1, newest=packets > 0)
        if packets:
            self.rings_are_full(packets, 2 if "prepare=thread" in output else 1)

    @both
    def test_any_instant(self) -> None:
        for rng in self.rounds(26):
            self.kill(rng, f"text={rng.choice((8, 64, 900))}", f"threads={rng.randint(1, 8)}", "sleep=600000000")

    @both
    def test_with_forked_children(self) -> None:
        for rng in self.rounds(9):
            nr = rng.randint(1, 4)
            self.kill(rng, f"threads={nr}", "fork=3", f"threads={nr}", "sleep=600000000", "parent", "sleep=600000000")

    @both
    def test_threads_that_fork(self) -> None:
        for rng in self.rounds(5):
            self.kill(rng, "forks=500", f"threads={rng.randint(1, 4)}", "sleep=600000000")
