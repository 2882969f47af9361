# SPDX-License-Identifier: MIT
"""The tables of docs/kernel.md: tests write their rows, and fail where they are others now.

A row begins with what its numbers are true of: the version of the packages.
Debian's updates change the headers, so a row of another version says nothing.
"""

from __future__ import annotations

import fcntl
import os
import re
import unittest

from kernel import tree
from support import ROOT, UPDATE, note, read

DOCUMENT = os.path.join(ROOT, "docs/kernel.md")


def check(test: unittest.TestCase, table: str, found: tree.Tree, cells: list[object]) -> None:
    """The row of a kernel's headers in a table must hold these cells, if all were read; UPDATE=1 makes it so."""
    if tree.EACH != 1:
        return
    with open(DOCUMENT, encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # UPDATE=1 of another file's tests, at the same time
        _check(test, table, found.series, found.package, cells)


def _check(test: unittest.TestCase, table: str, series: str, key: str, cells: list[object]) -> None:
    text = read(DOCUMENT)
    match = re.search(rf"<!-- table {table} -->\n(.*?)<!-- end -->", text, re.S)
    test.assertTrue(match, f"docs/kernel.md has no table {table}")
    assert match
    row = "| " + " | ".join([series, key, *(str(c) for c in cells)]) + " |"
    rows = match[1].splitlines()
    at = next((i for i, line in enumerate(rows) if line.startswith(f"| {series} |")), None)
    old = rows[at] if at is not None else ""
    if UPDATE:
        rows[at if at is not None else len(rows):len(rows) if at is None else at + 1] = [row]
        with open(DOCUMENT, "w", encoding="utf-8") as file:
            file.write(text[:match.start(1)] + "\n".join(rows) + "\n" + text[match.end(1):])
    elif old.startswith(f"| {series} | {key} |"):
        test.assertEqual(row, old, f"docs/kernel.md, table {table}; UPDATE=1 writes it anew")
    else:
        note(f"not compared with docs/kernel.md, which is of another version: {row}")
