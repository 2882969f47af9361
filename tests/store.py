# SPDX-License-Identifier: MIT
"""What compilers have made for tests, kept below build/store across runs.

An entry is named after all that its command reads: the command's words, the compiler, the files that the command
names, and what the directories hold in which it looks for headers and libraries. For the system's own, the time stands
at which a package has changed last.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence

STORE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build/store")
LIMIT = 3 << 30  # bytes, of what is kept from one run to the next
LIBRARIES = (".a", ".so")
# What has another ending may be included.
NEVER_INCLUDED = (*LIBRARIES, ".o", ".d", ".py", ".pyc", ".json", ".log", ".txt", ".md", ".err", ".stamp")
COMPILERS = ("gcc", "g++", "clang", "clang++")
# Options for which a compiler writes another file, or reads what no word names.
ASIDE = ("-M", "-save-temps", "-gsplit-dwarf", "--coverage", "-fprofile", "-ftest-coverage", "-fstack-usage",
         "-fcallgraph-info", "-aux-info", "-fopt-info", "-fdump", "-Wl,-Map", "-Wl,--dependency-file", "-fplugin", "-B",
         "-specs", "@")


@functools.lru_cache(maxsize=None)
def _contents(path: str, _size: int, _changed: int) -> bytes:
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).digest()


def _file(path: str) -> bytes:
    """Of a file that was replaced, its status has changed."""
    status = os.stat(path)
    return _contents(path, status.st_size, status.st_ctime_ns) + bytes([status.st_mode & 0o111 != 0])


def _included(name: str) -> bool:
    return "." in os.path.basename(name) and not name.endswith(NEVER_INCLUDED)


def _inputs(command: Sequence[str], cwd: str) -> Iterator[str]:
    """The files that a compiler may read, besides its own and the system's."""
    for word, following in zip(command, [*command[1:], ""]):
        for option, wanted, deep in (("-I", _included, True), ("-iquote", _included, True), ("-isystem", _included, True),
                                     ("-L", lambda name: name.endswith(LIBRARIES), False)):
            if word.startswith(option):
                top = glob.escape(os.path.join(cwd, word.removeprefix(option) or following))
                yield from sorted(filter(wanted, glob.iglob(f"{top}/**" if deep else f"{top}/*", recursive=deep)))
        # The file itself, also as in "-Wl,--version-script=FILE", and whatever "#include" finds beside it.
        path = os.path.join(cwd, re.split("[=,]", word)[-1])
        if os.path.isfile(path):
            yield path
            if _included(path):
                yield from sorted(other.path for other in os.scandir(os.path.dirname(path)) if _included(other.name))


@functools.lru_cache(maxsize=None)
def _system(compiler: str) -> str:
    """The compiler, and when the machine's packages have changed last."""
    stamps = [shutil.which(compiler) or compiler, "/var/lib/dpkg/status"]
    return " ".join(str(os.stat(path).st_mtime_ns) for path in stamps if os.path.exists(path))


class Entry:
    """What a command makes, whether it was run already or not."""

    def __init__(self, command: Sequence[str], cwd: str) -> None:
        self.output = os.path.join(cwd, command[command.index("-o") + 1])
        found = hashlib.sha256("\0".join([*command, cwd, _system(command[0])]).encode("utf-8", "surrogateescape"))
        for path in dict.fromkeys(_inputs(command, cwd)):
            if path != self.output and os.path.isfile(path):
                with contextlib.suppress(FileNotFoundError):  # another test may have removed it
                    found.update(path.encode("utf-8", "surrogateescape") + b"\0" + _file(path))
        self.path = os.path.join(STORE, found.hexdigest())

    def take(self) -> bool:
        """Whether it is there, and then was copied: tests may change what they have."""
        if not os.path.exists(self.path):
            return False
        # By another process: what this one had open for writing, a child that is just forked would hold, and nobody could
        # execute it. It may be a program that runs, so the old one goes first.
        subprocess.run(["cp", "--remove-destination", self.path, self.output], check=True)
        os.utime(self.path)
        return True

    def put(self) -> None:
        """Nobody ever sees half an entry."""
        os.makedirs(STORE, exist_ok=True)
        handle, path = tempfile.mkstemp(dir=STORE)
        os.close(handle)
        shutil.copy(self.output, path)
        os.replace(path, self.path)


def entry(command: Sequence[str], cwd: str) -> Entry | None:
    """That of a compiler's command which makes one file and nothing beside it; of another one, None."""
    if os.path.basename(command[0]).rpartition("-")[2] in COMPILERS and "-o" in command[1:-1] and not any(
            word.startswith(ASIDE) for word in command) and "/dev/null" not in command:
        return Entry(command, cwd)
    return None


def trim() -> None:
    """Removes what was not used for longest."""
    with contextlib.suppress(FileNotFoundError):
        entries = sorted(((file.stat(), file.path) for file in os.scandir(STORE)), key=lambda each: -each[0].st_mtime_ns)
        kept = 0
        for status, path in entries:
            kept += status.st_size
            if kept > LIMIT:
                os.unlink(path)
