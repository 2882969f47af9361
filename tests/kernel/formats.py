# SPDX-License-Identifier: MIT
"""Format files, as tpgen writes them and as a running kernel shows them in tracefs."""

from __future__ import annotations

import errno
import glob
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from kernel.witness import Event

_FIELD = re.compile(r"\tfield:(.*?);\toffset:(\d+);\tsize:(\d+);\tsigned:(\d);")


def parse(text: str, system: str) -> Event:
    """The event's own fields, and its print format."""
    head, _, fmt = text.partition("\nprint fmt: ")
    rows = [(m[1], int(m[2]), int(m[3]), int(m[4])) for m in _FIELD.finditer(head)]
    return Event(system, [r for r in rows if not re.search(r"\bcommon_\w+$", r[0])], fmt.removesuffix("\n"))


def read_all(directory: str, live: bool = False) -> dict[tuple[str, str], Event]:
    """All formats below a directory of SYSTEM/EVENT/format, by system and event. Of a running kernel, which is live, without
    those that are removed meanwhile."""
    found = {}
    for path in glob.glob(f"{directory}/*/*/format"):
        system, name = path.split("/")[-3:-1]
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                found[system, name] = parse(file.read(), system)
        except OSError as error:
            if not live or error.errno not in (errno.ENOENT, errno.ENODEV):
                raise
    return found


@contextmanager
def tracefs() -> Iterator[str | None]:
    """The running kernel's events directory; None where there is none, and it can't be mounted."""
    for known in ("/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"):
        if os.path.exists(f"{known}/header_page"):
            yield known
            return
    place = tempfile.mkdtemp(prefix="tpgen-tracefs-")
    try:
        done = subprocess.run(["mount", "-t", "tracefs", "nodev", place], capture_output=True, check=False)
        try:
            yield f"{place}/events" if not done.returncode else None
        finally:
            if not done.returncode:
                subprocess.run(["umount", "-l", place], check=False)
    finally:
        shutil.rmtree(place, ignore_errors=True) if not os.path.ismount(place) else None


# Why a running kernel shows something else of an event than the headers of another version.
CAUSES = {
    "identical": "",
    "of other fields": "the record has changed from the one version to the other",
    "with values for names": "the names of enumerators stand in one text, and their values in the other",
    "with names for expressions": "a name in one text is no word of the other, which has an expression there: a macro "
                                  "of a source file, or one that has become an enumerator",
    "of other texts": "one has literals that the other has not: a table or the format has changed",
    "unexplained": "",
}


def cause(live: Event, kin: list[Event]) -> str:
    """One of CAUSES, for the event of a running kernel and the same in packaged headers."""
    if live in kin:
        return "identical"
    kin = [e for e in kin if e.fields == live.fields]
    if not kin:
        return "of other fields"
    theirs = words(live.print_fmt)
    ours = [words(e.print_fmt) for e in kin]
    if any(len(o) == len(theirs) and all(a == b or _name(a) and _name(b) for a, b in zip(theirs, o)) for o in ours):
        return "with values for names"
    if any(_expands(theirs, o) or _expands(o, theirs) for o in ours):
        return "with names for expressions"
    if all({t for t in theirs if t[0] == '"'} != {t for t in o if t[0] == '"'} for o in ours):
        return "of other texts"
    return "unexplained"


def words(text: str) -> tuple[str, ...]:
    """The tokens of a print format: two that differ in blanks only are the same."""
    return tuple(re.findall(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]', text, flags=re.S))


def blanks(text: str) -> tuple[bool, ...]:
    """For each of the words, whether a blank is in front of it."""
    return tuple(bool(blank) for blank in re.findall(r'(\s*)(?:"(?:\\.|[^"\\])*"|\w+|[^\w\s])', text, flags=re.S))


def _name(word: str) -> bool:
    return word[0].isalnum() or word[0] == "_"


def _expands(theirs: tuple[str, ...], ours: tuple[str, ...]) -> bool:
    """Whether theirs are ours, with something in place of the names (and calls) that are not theirs."""
    known = set(theirs)
    runs: list[list[str]] = [[]]  # of words that must be theirs; between two of them stands something
    at = 0
    while at < len(ours):
        word = ours[at]
        at += 1
        if not _name(word) or word in known:
            runs[-1].append(word)
            continue
        runs.append([])
        depth = 0
        while at < len(ours) and (depth or ours[at] == "("):
            depth += {"(": 1, ")": -1}.get(ours[at], 0)
            at += 1
            if not depth:
                break
    first, last = tuple(runs[0]), tuple(runs[-1])
    if len(runs) == 1:
        return first == theirs
    if theirs[:len(first)] != first or theirs[len(theirs) - len(last):] != last:
        return False
    start, end = len(first), len(theirs) - len(last)
    for run in map(tuple, runs[1:-1]):
        start = next((n for n in range(start, end - len(run) + 1) if theirs[n:n + len(run)] == run), end) + len(run)
    return start <= end
