# SPDX-License-Identifier: MIT
"""The pages of the documentation, beside the sources or where they are installed, and what they say of macros."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache

_HERE = os.path.dirname(os.path.abspath(__file__))
_PLACES = (os.path.join(_HERE, "..", "docs"),                # beside the sources
           os.path.join(_HERE, "..", "..", "doc", "tp"))     # PREFIX/share/doc/tp, seen from PREFIX/share/tpgen/tpgen

_PART = re.compile(r"^- \*(\w+)\*: (.*(?:\n  .*)*)", re.M)

_ARGUMENT = re.compile(r"\*(\w+)\*")  # that a row says something of
_LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")


class NoPage(Exception):
    """The text says where the page was looked for."""


def read_page(name: str) -> str:
    for place in _PLACES:
        path = os.path.normpath(os.path.join(place, name))
        if os.path.exists(path):
            with open(path, encoding="utf-8") as page:
                return page.read()
    raise NoPage(f"{name} is not where tpgen is installed: " + " or ".join(map(os.path.normpath, _PLACES)))


@cache
def macros() -> Mapping[str, tuple[str, str]]:
    """For each macro in the first column of a table of language.md: how it is called, and what the rest of its row says. For each
    part of a declaration, by its role, what may stand in it. Empty where the page is not installed."""
    try:
        page = read_page("language.md")
    except NoPage:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for called, text in _rows(page):
        for name in (re.split(r"\W", called, maxsplit=1)[0], *_ARGUMENT.findall(text)):
            found.setdefault(name, (called, text))
    return {**found, **{role: (role, " ".join(_LINK.sub(r"\1", text).split())) for role, text in _PART.findall(page)}}


def _rows(page: str) -> Iterator[tuple[str, str]]:
    """Each macro as it is called, with the text of its row, in which "the same" is said as what."""
    head: list[str] = []
    model = ""  # what "the same" is
    for before, line in zip(["", *page.splitlines()], page.splitlines()):
        if not line.startswith("|"):
            continue
        first, *cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not before.startswith("|"):
            head = cells
            continue
        called = re.findall(r"`(\w+(?:\([^`]*\))?)`", first)
        if not called:
            continue
        if not any(cell.startswith("the same") for cell in cells):
            model = called[0].partition("(")[0]
        said = [re.sub(r"^the same", f"as `{model}`", _LINK.sub(r"\1", cell)) for cell in cells]
        text = "; ".join(f"{name.strip('| ')}: {cell}" if name.strip("| ") else cell for name, cell in zip(head, said) if cell)
        yield from ((one, text) for one in called)
