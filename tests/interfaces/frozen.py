# SPDX-License-Identifier: MIT
"""The frozen interfaces: what their programs are, how they are built and run, and what they have recorded."""

from __future__ import annotations

import dataclasses
import glob
import json
import os
import re
import shutil
from collections.abc import Sequence

from building import CC, build
from support import Case, read, reader, run

HERE = os.path.dirname(os.path.abspath(__file__))
# Lines of the program whose order is the linker's.
LISTED = ("describe ", "tracepoint ", "marker ", "event ")

# What the statistics say of their option where there are no events.
ABOUT_STATISTICS = re.compile(r"^tp: statistics .*\n", re.M)


@dataclasses.dataclass(frozen=True)
class Interface:
    """One that was released: a folder here."""
    number: int

    @property
    def directory(self) -> str:
        return os.path.join(HERE, str(self.number))

    @property
    def soname(self) -> str:
        return read(os.path.join(self.directory, "soname")).strip()

    def include(self) -> list[str]:
        return [self.directory, os.path.join(self.directory, "include")]


def interfaces() -> list[Interface]:
    return [Interface(number) for number in sorted(int(os.path.basename(d)) for d in glob.glob(f"{HERE}/[0-9]*"))]


@dataclasses.dataclass
class Outcome:
    """What a program has said and written."""
    stdout: str
    stderr: str
    text: str
    ctf: str
    stats: dict[str, list]

    def all(self) -> str:
        """As one text, without what differs from run to run."""
        lines = re.sub(r" (with|no) sites,", "", self.stdout).splitlines()
        listed = sorted(line for line in lines if line.startswith(LISTED))
        said = [line for line in lines if not line.startswith(LISTED)]
        stats = [f"{name} {json.dumps(what)}" for name, what in sorted(self.stats.items())]
        return "\n".join(["---- said", *said, "---- listed", *listed, "---- text", *self.text.splitlines(), "---- ctf",
                          *self.ctf.splitlines(), "---- stats", *stats, ""])

    @staticmethod
    def parts(text: str) -> dict[str, str]:
        """The parts of all(), by their names."""
        return {name: part for name, part in re.findall(r"^---- (\w+)\n(.*?)(?=^----|\Z)", text, re.S | re.M)}


def build_program(case: Case, interface: Interface, libtp: str, compiler: str = CC, flags: Sequence[str] = (),
                  link: Sequence[str] = ()) -> list[str]:
    """The program and its modules; the command that runs them, but for the directory to write into."""
    common = {"include": interface.include(), "flags": ["-w", *flags], "compiler": compiler}
    source = {name: os.path.join(interface.directory, f"{name}.c") for name in ("program", "plugin", "user")}
    program = build(case.path("program"), source["program"], libtp=libtp, link=[*link, "-ldl"], **common)
    of_modules = "" if libtp == "whole" else libtp
    return [program, *(build(case.path(f"{name}.so"), source[name], libtp=of_modules, link=link, **common)
                       for name in ("plugin", "user"))]


def run_program(case: Case, command: list[str], env: dict[str, str] | None = None) -> Outcome:
    """Runs it, and reads what it has written."""
    directory = case.path("out")
    shutil.rmtree(directory, ignore_errors=True)
    os.mkdir(directory)
    done = run([command[0], directory, *command[1:]], env={**os.environ, **(env or {})})
    case.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    text = re.sub(r"^\d+\.\d+ \d+/\d+ ", "", read(os.path.join(directory, "text")), flags=re.M)
    stats = stats_of(os.path.join(directory, "stats"))
    return Outcome(done.stdout, done.stderr, text, ctf_of(os.path.join(directory, "ctf")), stats)


def stats_of(file: str) -> dict[str, list]:
    """Of each event its hits, and of each of its fields the values."""
    events = json.loads(read(file))["events"]
    return {event["event"]: [event["hits"], *(
        {key: field.get(key) for key in ("field", "kind", "count", "sum", "min", "max", "top")}
        for field in event.get("fields", ()))] for event in events}


def ctf_of(trace: str) -> str:
    done = reader(["babeltrace2", "--no-delta", trace])
    assert done.returncode == 0 and not done.stderr, done.stderr
    return re.sub(r"^\[\S+\] \S+ (.*?)\{ tid = \d+ \}", r"\1", done.stdout, flags=re.M)
