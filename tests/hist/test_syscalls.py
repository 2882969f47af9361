# SPDX-License-Identifier: MIT
"""The table of system calls has all that this system's headers know; UPDATE=1 adds those that it lacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import CC  # noqa: E402
from support import ROOT, UPDATE, read  # noqa: E402

TABLE = os.path.join(ROOT, "runtime/src/print/syscall_names.h")
HEAD = """\
/* SPDX-License-Identifier: MIT */
/* print/syscall_names.h - the system calls that <sys/syscall.h> has. Written by UPDATE=1 tests/hist/test_syscalls.py. */
"""
NO_CALLS = {"syscalls", "arch_specific_syscall"}


def known(compiler: str) -> set[str]:
    """The names that the compiler's system has."""
    macros = subprocess.run([compiler, "-E", "-dM", "-"], input="#include <sys/syscall.h>\n", capture_output=True, text=True,
                            check=True).stdout
    return set(re.findall(r"^#define __NR_(\w+) ", macros, re.M)) - NO_CALLS


def listed() -> set[str]:
    return set(re.findall(r"X\((\w+)\)", read(TABLE))) if os.path.exists(TABLE) else set()


def write(names: set[str]) -> None:
    lines = [""]
    for name in sorted(names):
        entry = f"X({name})"
        if lines[-1] and len(lines[-1]) + 1 + len(entry) > 118:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + entry
    with open(TABLE, "w", encoding="ascii") as file:
        file.write(HEAD + "\n".join(lines) + "\n")


class Table(unittest.TestCase):
    def test_complete(self) -> None:
        names = known(CC)
        if UPDATE:
            write(names | listed())
        self.assertEqual(sorted(names - listed()), [], "UPDATE=1 adds them to " + TABLE)


if __name__ == "__main__":
    unittest.main()
