# SPDX-License-Identifier: MIT
"""The pictures of a terminal, which docs/terminal.py makes, show what the commands print today: UPDATE=1 makes them anew."""

from __future__ import annotations

import glob
import html
import importlib.util
import os
import re
import shutil
import sys

from docs.pages import have_alone
from support import ROOT, UPDATE, Case, need, read, run, unavailable

SCRIPT = os.path.join(ROOT, "docs/terminal.py")
LARGEST = 30_000

# A table has no room for these where its numbers are wide.
SPARE = {"AVG/s", "MIN", "MEAN", "MAX", "P90", "P99.9", "%"}
# Whether these come depends on the moment.
BY_CHANCE = re.compile(r"without an end so far|ends without a begin|[- ]*between two hits[- ]*$")


def pictures() -> tuple:
    """Those of the script."""
    spec = importlib.util.spec_from_file_location("terminal", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["terminal"] = module  # where its dataclasses look for themselves
    spec.loader.exec_module(module)
    return module.PICTURES


def lines(path: str) -> list[str]:
    return [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in re.findall(r"<text.*?</text>", read(path))]


def shape(line: str) -> str:
    """The line with 0 for all numbers, bars and columns that a table may lack."""
    if line.startswith("$ "):
        return line
    line = re.sub(r"\b(kind|error)=\w+", r"\1=x", re.sub(r"#+$", "", line))
    words = [word for word in line.split() if word not in SPARE]
    line = re.sub(r"\d+(?:[.:T-]\d+)*", "0", " ".join(words))
    return re.sub(r"(?:0 (?:[num]?s )?|- )+(?=0|-)|0 (?=- )", "", re.sub(r"\b0 (?:[num]?s|[KM]iB)\b", "0", line)).strip().removesuffix(" -")


def shapes(path: str) -> set[str]:
    return {shape(line) for line in lines(path) if not BY_CHANCE.match(line)}


class Pictures(Case):
    def test_of_the_script(self) -> None:
        """Each has the script's commands, is small, fits a terminal, and is in a page."""
        pages = {page: read(os.path.join(ROOT, page)) for page in ("README.md", "docs/pictures.md")}
        names = {os.path.relpath(path, os.path.join(ROOT, "docs"))[:-4] for path in glob.glob(os.path.join(ROOT, "docs/pictures/*.svg"))}
        self.assertEqual(names | {"terminal"}, {picture.name for picture in pictures()})
        for picture in pictures():
            path = os.path.join(ROOT, "docs", picture.name + ".svg")
            self.assertEqual([line[2:] for line in lines(path) if line.startswith("$ ")], [step.command for step in picture.steps])
            self.assertLess(os.path.getsize(path), LARGEST)
            self.assertTrue(all(len(line) <= 80 for line in lines(path)), picture.name)
            self.assertTrue(any(f"({picture.name}.svg)" in text or f"(docs/{picture.name}.svg)" in text for text in pages.values()), picture.name)

    def test_of_today(self) -> None:
        need(self, "unshare", "bash")
        if os.geteuid():
            unavailable(self, "only root can do this")
        if run(["unshare", "--mount", "--uts", "--net", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "tmpfs", "/run"]).returncode:
            unavailable(self, "there can be no other /run and /proc")
        have_alone(self, "worker")
        self.succeed([sys.executable, SCRIPT, self.dir])
        for picture in pictures():
            made, kept = self.path(picture.name + ".svg"), os.path.join(ROOT, "docs", picture.name + ".svg")
            if UPDATE:
                shutil.copy(made, kept)
            for _ in range(4):  # a machine that stood still may have left room for a column, or two threads' lines in another order
                if shapes(made) != shapes(kept):
                    self.succeed([sys.executable, SCRIPT, self.dir, picture.name])
            with self.subTest(picture=picture.name):
                self.assertEqual(shapes(made), shapes(kept))
