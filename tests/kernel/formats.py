# SPDX-License-Identifier: MIT
"""Format files, as tpgen writes them and as a running kernel shows them in tracefs."""

from __future__ import annotations

import functools
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


def read_all(directory: str) -> dict[tuple[str, str], Event]:
    """All formats below a directory of SYSTEM/EVENT/format, by system and event."""
    found = {}
    for path in glob.glob(f"{directory}/*/*/format"):
        system, name = path.split("/")[-3:-1]
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            found[system, name] = parse(file.read(), system)
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


@functools.cache
def words(text: str) -> tuple[str, ...]:
    """The tokens of a print format: two that differ in blanks only are the same."""
    return tuple(re.findall(r'"(?:\\.|[^"\\])*"|\w+|[^\w\s]', text, flags=re.S))
