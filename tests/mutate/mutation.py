# SPDX-License-Identifier: MIT
"""What a mutation is: a mistake, where it is made, and the tests that must notice it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    file: str
    why: str  # what goes wrong
    changes: tuple[tuple[str, str], ...]  # texts that are there once, and what takes their place
    # Until one notices it: programs of unit tests below build/, or FILE.py of tests/, with :PART of its tests' names.
    tests: tuple[str, ...]
    hangs: bool = False  # a test notices it by never ending
    model: str = ""  # the BREAK of tests/model/probes.pml that is the same mistake
    known: str = ""  # it survives, and why, as far as that is known
