# SPDX-License-Identifier: MIT
"""What tp list prints of a file, and what the program that was made of it says itself when it runs."""

from __future__ import annotations

import dataclasses
import functools
import os
import re
import shutil
import tempfile

from building import build, generate
from support import BUILD, Case, read, run, temporary
from tpgen.model import LOGLEVELS

HERE = os.path.dirname(os.path.abspath(__file__))
TP = os.path.join(BUILD, "tp")

HEAD = re.compile(r"^(\S+) +([A-Z_]+) +(\S.*)$")
FIELD = re.compile(r"^\t(.*); +/\* offset (\d+), size (\d+) \*/$")


@dataclasses.dataclass(frozen=True)
class Event:
    name: str
    level: str
    place: str
    fields: tuple[tuple[str, int, int], ...]
    print_fmt: str


def listed(text: str) -> list[Event]:
    """The events in the output of tp list -v."""
    events = []
    for line in text.splitlines():
        if head := HEAD.match(line):
            events.append(Event(*head.groups(), (), ""))
        elif field := FIELD.match(line):
            more = (field[1], int(field[2]), int(field[3]))
            events[-1] = dataclasses.replace(events[-1], fields=(*events[-1].fields, more))
        else:
            assert line.startswith("\tprint fmt: "), line
            events[-1] = dataclasses.replace(events[-1], print_fmt=line.removeprefix("\tprint fmt: "))
    return events


def told(path: str) -> list[Event]:
    """The events that listing.c has written."""
    events = []
    for text in read(path).split("----\n")[:-1]:
        name, level, place, text = text.split("\n", 3)
        own = text.split("\n\n", 1)[1]
        fields = re.findall(r"^\tfield:(.*);\toffset:(\d+);\tsize:(\d+);\tsigned:\d;$", own, re.M)
        events.append(Event(name, LOGLEVELS[int(level)], "-" if place.startswith(":") else place,
                            tuple((declaration, int(offset), int(size)) for declaration, offset, size in fields),
                            re.findall(r"^print fmt: (.*)$", own, re.M)[0]))
    return events


_built: dict[tuple, str] = {}


@functools.cache
def headers() -> str:
    """The directory of those of this folder's events."""
    path = temporary()
    generate(path, os.path.join(HERE, "listed.tp"), os.path.join(HERE, "library.tp"))
    return path


class Listed(Case):
    """Builds programs of the events in this folder, runs them, and lists their files."""

    def list(self, *args: str, **options) -> str:
        done = self.succeed([TP, "list", *args], **options)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def refused(self, *args: str, code: int = 1, **options) -> str:
        """The one line that says why nothing is listed, without the end of it."""
        done = run([TP, "list", *args], **options)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, r"\Atp: [^\n]*\n\Z")
        return done.stderr.removeprefix("tp: ").rstrip("\n")

    def run_it(self, command: list[str], **env: str) -> list[Event]:
        """What the program says of its events."""
        listing = self.path("listing")
        self.succeed(command, cwd=self.dir, env={**os.environ, **env, "LISTING": listing})
        return told(listing)

    def same(self, path: str, command: list[str] | None = None, **env: str) -> list[Event]:
        """The file's events are those of the program that runs, in the same order."""
        events = listed(self.list("-v", path, env={**os.environ, **env}))
        self.assertEqual(events, self.run_it(command or [path], **env))
        self.assertTrue(events)
        return events

    def build(self, name: str, *sources: str, **options) -> str:
        """A program of sources in this folder, which writes its listing; or a library. Tests get copies of one."""
        key = (name, sources, repr(options))
        if key not in _built:
            paths = [os.path.join(HERE, source) for source in sources]
            if not name.endswith(".so"):
                paths.append(os.path.join(HERE, "listing.c"))
            _built[key] = build(os.path.join(tempfile.mkdtemp(dir=headers()), os.path.basename(name)), *paths,
                                include=[headers()], **options)
        shutil.copy2(_built[key], self.path(name))
        return self.path(name)
