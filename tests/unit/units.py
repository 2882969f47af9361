# SPDX-License-Identifier: MIT
"""Runs the unit tests of the runtime, programs made with check, and counts each of their tests."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import tempfile
import unittest

from support import BUILD, ROOT

TIMEOUT = 1500  # seconds for a program


class Unit(unittest.TestCase):
    """One test of one program; it was run with the program's others."""

    def __init__(self, name: str, passed: bool, text: str, skipped: str = ""):
        super().__init__("outcome")
        self.name = name
        self.passed = passed
        self.text = text
        self.skipped = skipped  # why, if it was

    def outcome(self) -> None:
        if self.skipped:
            self.skipTest(self.skipped)
        if not self.passed:
            self.fail(self.text)

    def __str__(self) -> str:
        return self.name


def _run(program: str) -> list[Unit]:
    name = os.path.basename(program)
    with tempfile.TemporaryDirectory(prefix="tpgen-unit-") as directory:
        tap = os.path.join(directory, "tap")
        env = {**os.environ, "CK_TAP_LOG_FILE_NAME": tap, "CK_VERBOSITY": "silent",
               "CK_TIMEOUT_MULTIPLIER": "10"}  # a machine may be busy with something else
        try:
            done = subprocess.run([program], cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return [Unit(name, False, f"has not ended after {TIMEOUT} seconds")]
        output = (done.stdout + done.stderr).decode(errors="replace")
        lines = []
        if os.path.exists(tap):
            with open(tap, encoding="utf-8", errors="replace") as file:
                lines = file.read().splitlines()
    # check knows no skipping: a test that had to says so itself.
    skipped = dict(re.findall(r"^SKIPPED (\w+): (.*)$", output, re.M))
    units = []
    for line in lines:
        match = re.match(r"(not )?ok \d+ - (.*)", line)
        if match:
            test = match[2].split(":")[2] if match[2].count(":") > 2 else ""
            label = f"{name} {match[2].removesuffix(': Passed')}"
            units.append(Unit(label, not match[1], match[2] + ("\n" + output if match[1] else ""),
                              skipped.get(test, "")))
            if match[1]:
                output = ""  # said once
    if not units or done.returncode and all(u.passed for u in units):
        units.append(Unit(name, False, f"exit status {done.returncode}\n{output}"))
    return units


def suite(variant: str) -> unittest.TestSuite:
    """All tests of the programs below build/VARIANT/unit."""
    programs = sorted(glob.glob(os.path.join(BUILD, variant, "unit", "test_*")))
    assert programs, f"there are no unit tests in {BUILD}/{variant}/unit: run make check"
    return unittest.TestSuite(unit for program in programs if not program.endswith(".d") for unit in _run(program))
