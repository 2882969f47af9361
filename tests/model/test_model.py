# SPDX-License-Identifier: MIT
"""The protocol of registration, removal and grace periods, as probes.pml models it, has no wrong order of steps.

Spin makes a C program of the model, which visits all states that it can
reach. Each of the model's BREAKs must lead to a wrong one.
"""

from __future__ import annotations

import os
import re

from support import TESTS, Case, need, note, read, run

MODEL = os.path.join(TESTS, "model/probes.pml")

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


class Model(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "spin", "gcc")
        self.states = 0

    def search(self, *options: str, ltl: bool = False, optimize: str = "-O2") -> str:
        """What Spin finds: of the ltl, where nobody that could take a step is left out for ever; or of all the rest."""
        self.succeed(["spin", "-a", *options, MODEL], cwd=self.dir)
        # -w: what is warned of is Spin's code. The memory is in MB.
        flags = ["-w", optimize, "-DCOLLAPSE", "-DMEMLIM=500", *([] if ltl else ["-DSAFETY", "-DNOCLAIM"])]
        self.succeed(["gcc", *flags, "-o", "pan", "pan.c"], cwd=self.dir)
        done = run([self.path("pan"), "-m500000", "-w22", *(["-a", "-f"] if ltl else [])], cwd=self.dir)
        self.assertRegex(done.stdout, r"errors: [01]\n", done.stderr)
        self.assertNotRegex(done.stdout + done.stderr, "max search depth too small|MEMLIM bound")
        return done.stdout

    def holds(self, *options: str, ltl: bool = False) -> set[tuple[str, str]]:
        """There is no error. Returns the lines that the search has not come to."""
        out = self.search(*options, ltl=ltl)
        self.assertRegex(out, r"errors: 0\n")
        self.assertNotIn("Search not completed", out)
        states = re.search(r"(\d+) states, stored", out)
        assert states
        self.states += int(states[1])
        missed = re.findall(r"^unreached in proctype (\w+)\n((?:\t.*\n)*)", out, re.M)
        return {(process, line) for process, lines in missed for line in re.findall(r"\.pml:(\d+), state", lines)}

    def test_no_order_of_steps_is_wrong(self) -> None:
        missed = set.intersection(*(self.holds(*options) for options in (USERS, READERS, NESTING)))
        self.assertEqual(missed, set(), "steps that nobody ever takes")
        self.holds(*NESTING, ltl=True)
        note(f"{self.states:,} states of the probes' protocol")

    def test_what_is_broken_is_refused(self) -> None:
        names = re.findall(r"^#define ([A-Z_]+) \d+\t* +/\*", read(MODEL).split("#ifndef BREAK")[0], re.M)
        self.assertEqual(list(BROKEN), names)
        for name, expected in BROKEN.items():
            with self.subTest(name):
                ltl = expected == "acceptance cycle"
                out = self.search(f"-DBREAK={name}", *(NESTING if ltl else USERS), ltl=ltl, optimize="-O0")
                self.assertRegex(out, r"errors: 1\n")
                self.assertRegex(out, expected)
