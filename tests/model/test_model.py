# SPDX-License-Identifier: MIT
"""The protocols of registration, removal and grace periods (probes.pml), of forks (forks.pml) and of packets (packets.pml) have
no wrong order of steps.

Spin makes a C program of a model, which visits all states that it can
reach. Each of the model's BREAKs must lead to a wrong one.
"""

from __future__ import annotations

import os
import re

from support import TESTS, Case, need, note, read, run

CHECK_ALL = "Spin searches millions of states, of a model that changes with core/probes.c only"

PROBES, FORKS, PACKETS = (os.path.join(TESTS, "model", name) for name in ("probes.pml", "forks.pml", "packets.pml"))

# Each process more multiplies the states; so never all of them at a time.
USERS = ["-DREADERS=1", "-DUSERS=2", "-DNOBODYS=0", "-DNESTING=0"]
READERS = ["-DREADERS=2", "-DUSERS=1", "-DNOBODYS=1", "-DNESTING=0"]
NESTING = ["-DREADERS=1", "-DUSERS=1", "-DNOBODYS=1", "-DNESTING=1"]

FREED = r"assertion violated +(array\[at\[in\]\]\.used|live\[data\[in\]\])"
BROKEN = {
    "NO_WAIT": FREED,
    "ONE_PHASE": FREED,
    "PHASE_IGNORED": "acceptance cycle",
    "READER_BARRIER": FREED,
    "RELEASE": r"assertion violated +\(func\[in\]==data\[in\]\)",
    "TOMBSTONE_DATA": r"assertion violated +\(func\[in\]==data\[in\]\)",
    "LATE_REMOVAL": r"assertion violated +\(may\[",
    "LATE_UNPUBLISH": FREED,
    "LATE_TAKE": FREED,
    "LATE_KEY": r"assertion violated +!\(must\[",
    "WAIT_UNDER_LOCK": "invalid end state",
    "EARLY_FREE": r"assertion violated +live\[data\[in\]\]",
}

FORKERS = ["-DHITTERS=1", "-DFORKERS=2"]
HITTERS = ["-DHITTERS=2", "-DFORKERS=1"]

HANGS, FREED_TOO_EARLY = "invalid end state", r"assertion violated +!\(freed\)"
BROKEN_FORKS = {
    "FIRST_WAITS": HANGS,
    "FIRST_LEFT_IN": HANGS,
    "RECORD_WAITS": HANGS,
    "RECORD_LEFT_IN": HANGS,
    "NEVER_GIVES_UP": HANGS,
    "COUNT_IGNORED": FREED_TOO_EARLY,
    "ONE_COUNT": FREED_TOO_EARLY,
    "LATE_COUNT": FREED_TOO_EARLY,
}

ANOTHER, HALF = r"assertion violated +\(head\[", r"assertion violated +\(events\["
BROKEN_PACKETS = {
    "NAME_FIRST": ANOTHER,
    "EARLY_EMPTY": ANOTHER,
    "EARLY_RENAME": HALF,
    "EARLY_FULL": HALF,
    "NO_COPY": ANOTHER,
    "NO_WATCH": ANOTHER,
    "EARLY_WATCH": ANOTHER,
}


class Model(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "spin", "gcc")
        self.states = 0

    def search(self, model: str, *options: str, ltl: bool = False, optimize: str = "-O2") -> str:
        """What Spin finds: of the ltl, where nobody that could take a step is left out for ever; or of all the rest."""
        self.succeed(["spin", "-a", *options, model], cwd=self.dir)
        # -w: what is warned of is Spin's code. The memory is in MB.
        flags = ["-w", optimize, "-DCOLLAPSE", "-DMEMLIM=500", *([] if ltl else ["-DSAFETY", "-DNOCLAIM"])]
        self.succeed(["gcc", *flags, "-o", "pan", "pan.c"], cwd=self.dir)
        done = run([self.path("pan"), "-m500000", "-w22", *(["-a", "-f"] if ltl else [])], cwd=self.dir)
        self.assertRegex(done.stdout, r"errors: [01]\n", done.stderr)
        self.assertNotRegex(done.stdout + done.stderr, "max search depth too small|MEMLIM bound")
        return done.stdout

    def holds(self, model: str, *options: str, ltl: bool = False) -> set[tuple[str, str]]:
        """There is no error. Returns the lines that the search has not come to."""
        out = self.search(model, *options, ltl=ltl)
        self.assertRegex(out, r"errors: 0\n")
        self.assertNotIn("Search not completed", out)
        states = re.search(r"(\d+) states, stored", out)
        assert states
        self.states += int(states[1])
        missed = re.findall(r"^unreached in proctype (\w+)\n((?:\t.*\n)*)", out, re.M)
        return {(process, line) for process, lines in missed for line in re.findall(r"\.pml:(\d+), state", lines)}

    def no_order_is_wrong(self, model: str, what: str, *sizes: list[str]) -> None:
        missed = set.intersection(*(self.holds(model, *options) for options in sizes))
        self.assertEqual(missed, set(), "steps that nobody ever takes")
        note(f"{self.states:,} states of {what}")

    def broken_are_refused(self, model: str, broken: dict[str, str], options: list[str], fair: list[str]) -> None:
        names = re.findall(r"^#define ([A-Z_]+) \d+\t* +/\*", read(model).split("#ifndef BREAK")[0], re.M)
        self.assertEqual(list(broken), names)
        for name, expected in broken.items():
            with self.subTest(name):
                ltl = expected == "acceptance cycle"
                out = self.search(model, f"-DBREAK={name}", *(fair if ltl else options), ltl=ltl, optimize="-O0")
                self.assertRegex(out, r"errors: 1\n")
                self.assertRegex(out, expected)

    def test_no_order_of_steps_is_wrong(self) -> None:
        self.holds(PROBES, *NESTING, ltl=True)
        self.no_order_is_wrong(PROBES, "the probes' protocol", USERS, READERS, NESTING)

    def test_what_is_broken_is_refused(self) -> None:
        self.broken_are_refused(PROBES, BROKEN, USERS, NESTING)

    def test_no_order_of_steps_of_a_fork_is_wrong(self) -> None:
        self.no_order_is_wrong(FORKS, "the forks' protocol", FORKERS, HITTERS)

    def test_what_is_broken_in_a_fork_is_refused(self) -> None:
        self.broken_are_refused(FORKS, BROKEN_FORKS, HITTERS, [])

    def test_no_order_of_steps_of_a_packet_is_wrong(self) -> None:
        self.no_order_is_wrong(PACKETS, "the packets' protocol", ["-DPACKETS=4"])

    def test_what_is_broken_in_a_packet_is_refused(self) -> None:
        self.broken_are_refused(PACKETS, BROKEN_PACKETS, ["-DPACKETS=4"], [])
