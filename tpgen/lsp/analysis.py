# SPDX-License-Identifier: MIT
"""The compiler on the text of a document, in a process of its own.

The server answers meanwhile, and ends the process when its text is no longer the document's. Whatever becomes of the process, such
as a kill for want of memory, the server stays.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tpgen.cpp import Options
from tpgen.diag import Diagnostic, Diagnostics
from tpgen.frontend import compile_sources, reported
from tpgen.layout import HEADER_SIZE, lay_out
from tpgen.lower import Lowered
from tpgen.lsp.wire import Frames, frame
from tpgen.model import Answers, EventClass, Field
from tpgen.source import Source, Span
from tpgen.target import ask

# What the compiler is asked has limits of its own: see compiler.py. This is for all of it.
MAX_SECONDS = 180


@dataclass(frozen=True, slots=True)
class Settings:
    """How files are compiled."""

    cpp: Options
    remarks: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A field in its record. size is that of the word for a dynamic one; both are None where the C compiler does not know its type."""

    field: Field
    offset: int | None
    size: int | None


@dataclass(frozen=True, slots=True)
class Record:
    """What the compiler says of an event or of a class."""

    system: str
    members: tuple[Member, ...]
    length: int | None  # of the fixed part, header included
    text: str           # TP_printk, as format files have it


# By ("class" or "event", name).
Records = Mapping[tuple[str, str], Record]


def analyse(source: Source, settings: Settings) -> Iterator[list[Diagnostic] | Records]:
    """First what is wrong, then what the records are, of which the C compiler is asked."""
    diag = Diagnostics(settings.remarks)
    units: list[Lowered] = []
    with reported(diag):
        units = compile_sources([source], settings.cpp, diag)
    yield diag.shown()
    records: Records = {}
    if units:
        with reported(Diagnostics()):
            records = _records(units[0], source, settings.cpp)
    yield records


def _records(lowered: Lowered, source: Source, cpp: Options) -> Records:
    unit = lowered.unit
    answers = ask(source, cpp, [f for one in unit.classes for f in one.fields], (), Diagnostics())
    records = {("class", one.name): _record(one, one.print.text, "", answers) for one in reversed(unit.classes)}
    for point in reversed(unit.tracepoints):
        if point.event_class:
            text = (point.print or point.event_class.print).text
            records["event", point.name] = _record(point.event_class, text, point.system, answers)
    return records


def _record(event_class: EventClass, text: str, system: str, answers: Answers | None) -> Record:
    fields = event_class.fields
    layouts = answers.of(fields) if answers else None
    if layouts is None:
        return Record(system, tuple(Member(one, None, None) for one in fields), None, text)
    places = list(lay_out((one.size, one.align) for one in layouts))
    return Record(system, tuple(Member(one, at.offset, at.end - at.offset) for one, at in zip(fields, places)),
                  places[-1].end if places else HEADER_SIZE, text)


class Job:
    """A process that analyses a source."""

    def __init__(self, source: Source, settings: Settings, directory: str):
        self._frames = Frames(sys.maxsize)
        self.said = False  # anything
        self.output, theirs = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(self.output)
            _work(source, settings, directory, theirs)
        os.close(theirs)

    def read(self) -> Sequence[list[Diagnostic] | Records] | None:
        """What it has said since, once output is readable; None when it has ended."""
        data = os.read(self.output, 1 << 16)
        said = [pickle.loads(body) for body in self._frames.feed(data)]
        self.said = self.said or bool(said)
        return said if data else None

    def end(self) -> int:
        """Ends it, with the compilers that it runs, and returns what became of it: the status, or minus the signal."""
        try:
            os.killpg(self._pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass  # it has no group yet, or is gone
        try:
            os.kill(self._pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.output)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


def _work(source: Source, settings: Settings, directory: str, output: int) -> None:
    """In the process."""
    status = 1
    try:
        os.setpgid(0, 0)
        signal.alarm(MAX_SECONDS)
        gc.disable()
        # Neither the editor's messages nor its end of the connection is this process's.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.chdir(directory)
        for said in analyse(source, settings):
            data = frame(pickle.dumps(said))
            while data:
                data = data[os.write(output, data):]
        status = 0
    finally:
        os._exit(status)


def unfinished(status: int) -> Diagnostic:
    """What is said when the process ends without a word."""
    why = f"was ended by signal {-status}" if status < 0 else "has failed"
    return Diagnostic("error", Span("tpgen", 0), "TP002", f"the compilation {why}; look at the limits that ulimit -a prints")
