# SPDX-License-Identifier: MIT
"""The files that comments and docs/internals/architecture.md name are there."""

from __future__ import annotations

import os
import re
import unittest

from support import ROOT, read

# Files of the kernel's, that comments name as the source of a rule.
OTHERS = re.compile(r"(include/)?linux/|lib/|trace_events_")
# A name, but not a part of a path, of an include or of a call.
NAME = re.compile(r"(?<![<\w/.-])([a-z_][\w/]*\.[ch])\b(?!\()")


def files_below(top: str) -> list[str]:
    """The C files there, by their names from the project's root."""
    return [os.path.relpath(os.path.join(path, name), ROOT) for path, _, names in os.walk(os.path.join(ROOT, top))
            for name in names if name.endswith((".c", ".h"))]


def missing(text: str, folder: str, have: set[str]) -> list[str]:
    """The names in it of files that are neither in the folder nor at a path that includes of it have."""
    tops = (folder, "runtime/src", "runtime/src/sinks", "runtime/include", "runtime/include/tp", "runtime/tools")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return [name for name in NAME.findall(lines)
            if not OTHERS.match(name) and not any(f"{top}/{name}" in have for top in tops)]


class NamedFiles(unittest.TestCase):
    def test_in_comments(self) -> None:
        have = set(files_below("runtime"))
        wrong = {file: names for file in sorted(have)
                 if (names := missing(read(os.path.join(ROOT, file)), os.path.dirname(file), have))}
        self.assertEqual(wrong, {})

    def test_in_the_table_of_files(self) -> None:
        """The first column of docs/internals/architecture.md's tables."""
        rows = re.findall(r"^\| (.*?) \|", read(os.path.join(ROOT, "docs/internals/architecture.md")), re.M)
        named = {os.path.basename(name) for row in rows for name in re.findall(r"`([\w/]+\.c)`", row)}
        have = {os.path.basename(file) for file in files_below("runtime") if file.endswith(".c")}
        self.assertGreater(len(named), 100)
        self.assertEqual(sorted(named - have), [])

    def test_finds(self) -> None:
        have = {"runtime/src/core/site.c", "runtime/include/tp/event.h"}
        text = '#include "core/old.h"\n/* old.c, site.c, core/site.c, tp/event.h, the kernel\'s lib/glob.c, core/gone.h */\n'
        self.assertEqual(missing(text, "runtime/src/core", have), ["old.c", "core/gone.h"])
