# SPDX-License-Identifier: MIT
"""The documents as a whole: links lead somewhere, every page can be found, none grows beyond its measure."""

from __future__ import annotations

import os
import re

from support import ROOT, Case, read

# Words, as wc -w counts them: of pages for users together, of those for who changes it, and of those of which a reader needs
# the one that has the name of what he has. What a command prints is not read as a page: "tpgen explain" a section of the one,
# the bench the tables of the other.
USERS, INTERNALS, ADOPTING = 28_000, 16_000, 6_000
PRINTED = ("docs/diagnostics.md", "docs/internals/bench-tables.md")
CLICKS = 2


def pages() -> list[str]:
    found = ["README.md"]
    for top, _, names in os.walk(os.path.join(ROOT, "docs")):
        found += [os.path.relpath(os.path.join(top, name), ROOT) for name in names if name.endswith(".md")]
    return sorted(found)


def prose(text: str) -> str:
    """Without code, in which brackets mean something else."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.S | re.M)


def links(page: str) -> list[tuple[str, str]]:
    """File, from the root, and anchor of each link that stays here."""
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(read(os.path.join(ROOT, page))))
    found = []
    for target in targets:
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        found.append((file, anchor))
    return found


def anchors(page: str) -> set[str]:
    """Those that hosts of Git make of the headings."""
    found: set[str] = set()
    text = re.sub(r"^```.*?^```$", "", read(os.path.join(ROOT, page)), flags=re.S | re.M)
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = 0
        while name + (f"-{count}" if count else "") in found:
            count += 1
        found.add(name + (f"-{count}" if count else ""))
    return found


class Pages(Case):
    def test_links(self) -> None:
        for page in [*pages(), "CONTRIBUTING.md"]:
            for file, anchor in links(page):
                with self.subTest(page=page, link=f"{file}#{anchor}"):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, file)), "there is no such file")
                    if anchor and file.endswith(".md"):
                        self.assertIn(anchor, anchors(file))

    def test_found(self) -> None:
        """Each page is a few clicks away from the README."""
        reached = {"README.md"}
        for _ in range(CLICKS):
            reached |= {file for page in reached if page.endswith(".md") for file, _ in links(page)}
        self.assertEqual(set(pages()) - reached, set())

    def test_named_by_code(self) -> None:
        """Pages that messages, comments and tests name are there."""
        for top, folders, names in os.walk(ROOT):
            folders[:] = [f for f in folders if f not in ("build", ".git", "__pycache__", "interfaces")]
            for name in names:
                if not name.endswith((".c", ".h", ".py", ".j2", ".sh", ".tp", ".in", "Makefile")):
                    continue
                path = os.path.join(top, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    text = file.read()
                for page in set(re.findall(r"\bdocs/[\w./-]*\.(?:md|svg)\b", text)):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, page)), f"{os.path.relpath(path, ROOT)} names {page}")

    def test_words(self) -> None:
        words = {page: len(read(os.path.join(ROOT, page)).split()) for page in pages() if page not in PRINTED}
        internals = {page: n for page, n in words.items() if page.startswith("docs/internals/")}
        adopting = {page: n for page, n in words.items() if page.startswith("docs/adopting/")}
        users = {page: n for page, n in words.items() if page not in internals and page not in adopting}
        self.assertLessEqual(sum(users.values()), USERS, users)
        self.assertLessEqual(sum(internals.values()), INTERNALS, internals)
        self.assertLessEqual(sum(adopting.values()), ADOPTING, adopting)
