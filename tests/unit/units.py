# SPDX-License-Identifier: MIT
"""Runs the unit tests of the runtime, programs made with check, and counts each of their tests."""

from __future__ import annotations

import glob
import os
import re
import subprocess
import tempfile
import unittest
from collections.abc import Iterator

from support import BUILD, ROOT, TESTS, read


class Unit(unittest.TestCase):
    """One test of a program, which has run."""

    def __init__(self, program: str, name: str, failed: str = "", skipped: str = ""):
        super().__init__("outcome")
        self.program = program
        self.name = name
        self.failed = failed
        self.skipped = skipped  # why, if it was

    def outcome(self) -> None:
        if self.skipped:
            self.skipTest(self.skipped)
        if self.failed:
            self.fail(self.failed)

    def id(self) -> str:
        return self.program

    def __str__(self) -> str:
        return self.name


class Program(unittest.TestCase):
    """All tests of a program: a name that one of them has chooses the program."""

    def __init__(self, file: str, command: list[str], name: str):
        super().__init__("id")
        self.file = file
        self.command = command
        self.name = name
        source = read(os.path.join(TESTS, "unit", f"{name}.c"))
        self.parts = re.findall(r"^(?:LOOP_)?TEST\((\w+)", source, re.M)
        self.both = "few_or_many(" in source

    def id(self) -> str:
        return f"{self.file}.{self.name}"

    def run(self, result=None) -> None:
        for unit in self.outcomes():
            unit.run(result)

    def outcomes(self) -> Iterator[Unit]:
        with tempfile.TemporaryDirectory(prefix="tpgen-unit-") as directory:
            tap = os.path.join(directory, "tap")
            env = {**os.environ, "CK_TAP_LOG_FILE_NAME": tap, "CK_VERBOSITY": "silent"}
            # A file, as a process that is left behind would keep a pipe open.
            with tempfile.TemporaryFile("w+", errors="replace") as file:
                done = subprocess.run(self.command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=file,
                                      stderr=subprocess.STDOUT, check=False)
                file.seek(0)
                output = file.read()
            lines = read(tap).splitlines() if os.path.exists(tap) else []
        # check knows no skipping: a test that had to be skipped prints that itself.
        skipped = dict(re.findall(r"^SKIPPED (\w+): (.*)$", output, re.M))
        found = [match for line in lines if (match := re.match(r"(not )?ok \d+ - (.*)", line))]
        for match in found:
            test = match[2].split(":")[2] if match[2].count(":") > 2 else ""
            yield Unit(self.id(), f"{self.name} {match[2].removesuffix(': Passed')}",
                       f"{match[2]}\n{output}" if match[1] else "", skipped.get(test, ""))
        if not found or done.returncode and not any(match[1] for match in found):
            yield Unit(self.id(), self.name, f"exit status {done.returncode}\n{output}")


def suite(file: str, variant: str, *emulator: str) -> unittest.TestSuite:
    """All tests of the programs below build/VARIANT/unit, for the test file of this name."""
    programs = sorted(glob.glob(os.path.join(BUILD, variant, "unit", "test_*")))
    assert programs, f"there are no unit tests in {BUILD}/{variant}/unit: run make check"
    return unittest.TestSuite(Program(file, [*emulator, program], os.path.basename(program))
                              for program in programs if os.path.exists(
                                  os.path.join(TESTS, "unit", f"{os.path.basename(program)}.c")))
