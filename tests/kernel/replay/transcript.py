# SPDX-License-Identifier: MIT
"""A script of this folder with a kernel's answers, and with those of our program."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field

from building import build, generate
from support import PATIENCE, ROOT, RUNTIME_INCLUDES, Case, unavailable
from support import read as read_text

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Command:
    """A line of a script, and what was answered."""

    case: str  # the "=" line above it
    line: int  # its number in the file
    text: str  # without ">"
    answers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Mistake:
    """What is said of a command that was refused. A kernel says nothing of many."""

    message: str = ""
    caret: int = 0
    of_filter: bool = False


_MISTAKE = re.compile(r"(?:(?P<filter>event filter parse error: error)|.*: error|parse_error): (?P<message>.*)")
_PID = re.compile(r"\[ *\d+\] ?\}")  # of .execname
_NO_TRIGGERS = "# "
_UNSET = re.compile(r"    Unset: \d+")  # the last of our totals
# What no function shows here. Which events are armed is seen by what is recorded; snapshots are directories.
_KERNEL_ONLY = ("synths", "enabled", "snapshot")


def mistake(command: Command) -> Mistake | None:
    """None: it was taken."""
    if not command.answers or not command.answers[0].startswith("error "):
        return None
    caret = next((len(line) - 1 for line in command.answers if line.strip() == "^"), 0)
    told = next((match for match in map(_MISTAKE.fullmatch, command.answers) if match), None)
    return Mistake(told["message"].rstrip(), caret, bool(told["filter"])) if told else Mistake(" ".join(command.answers[1:]))


def why_differs(theirs: Command, ours: Command) -> str:
    """"" where it does not. Our message may go on behind the kernel's; entries that its sort keys don't tell apart have no order."""
    said, says = mistake(theirs), mistake(ours)
    if said and says:
        if not says.message.startswith(said.message) or not says.message:
            return f"{said.message!r} is here {says.message!r}"
        # The kernel searches the command for a piece of it, and takes the beginning where it finds none.
        if said.caret and not said.of_filter and says.caret != said.caret:
            return f"the caret at {said.caret} is here at {says.caret}"
        return ""
    if said or says:
        return f"{theirs.answers} is here {ours.answers}"
    wanted, found = _comparable(theirs), _comparable(ours)
    return "" if found == wanted else f"{theirs.answers} is here {ours.answers}"


def _comparable(command: Command) -> list[str]:
    verb = command.text.split()[0]
    lines = [_PID.sub("[PID]", line) for line in command.answers if line and not (verb == "hist" and _UNSET.fullmatch(line))]
    if verb in ("triggers", "try"):
        # The latest is the first, but with histograms, which the kernel has at the end, in the order of their making.
        listed = [line for line in lines if not line.startswith(_NO_TRIGGERS)]
        return sorted(listed, key=lambda line: line if line.startswith("hist:") else "")
    if verb == "trysynth":
        return lines[:1]
    return _sorted_ties(lines) if verb == "hist" else lines


def _sorted_ties(lines: list[str]) -> list[str]:
    """The lines of a "hist" file, each run of entries that are the same to its sort keys in one order."""
    keys: list[str] = []
    comparable: list[tuple[int, tuple[str, ...], str]] = []
    run = 0
    for line in lines:
        if line.startswith("# trigger info:"):
            keys = [key.split(".")[0] for key in re.findall(r":sort=([^: ]*)", line)[0].split(",")]
        of_keys = tuple(match[1] for key in keys if (match := re.search(rf"\b{key}: *(~? *\S+)", line)))
        entry = line.startswith("{")
        if not entry or not comparable or comparable[-1][1] != of_keys:
            run += 1
        comparable.append((run, of_keys, line))
    return [line for _, _, line in sorted(comparable)]


def differences(language: str) -> str:
    """The table of docs/internals/differences.md: of "Filters", "Triggers" or "Histograms"."""
    page = read_text(os.path.join(ROOT, "docs/internals/differences.md"))
    return page.partition(f"\n## {language}\n")[2].partition("\n## ")[0]


def parse(text: str) -> list[Command]:
    """The commands of a script."""
    commands: list[Command] = []
    case = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("="):
            case = line[2:]
        elif line.startswith("> "):
            commands.append(Command(case, number, line[2:]))
        elif line.startswith("<"):
            commands[-1].answers.append(line[2:])
    return commands


def read(name: str) -> list[Command]:
    """What the kernel said."""
    with open(os.path.join(HERE, f"{name}.txt"), encoding="utf-8", errors="surrogateescape") as file:
        return parse(file.read())


class Replayed(Case):
    """A test that plays a script with our program."""

    maxDiff = None

    def check(self, pairs: list[tuple[Command, Command]], language: str, deviations: dict[str, dict[str, str]]) -> None:
        """All pairs are the same, but for deviations: of each row of the language's table, commands and what ours says.

        A command is there with its verb and event, or without them, or with its case in front.
        """
        rows = differences(language)
        unused = {command: said for row in deviations.values() for command, said in row.items()}
        for row in deviations:
            self.assertIn(f"\n| {row} | ", rows)
        found: set[str] = set()
        for theirs, ours in pairs:
            names = (theirs.text, theirs.text.split(" ", 2)[-1], f"{theirs.case}: {theirs.text}")
            key = next((name for name in names if name in unused), None)
            with self.subTest(case=theirs.case, command=theirs.text, line=theirs.line):
                why = why_differs(theirs, ours)
                if key is None:
                    self.assertEqual(why, "")
                elif why:
                    self.assertIn(unused[key], "\n".join(ours.answers))
                    found.add(key)
        self.assertEqual(set(unused) - found, set())

    def replay(self, name: str) -> list[tuple[Command, Command]]:
        """Each command as the kernel and as our program have answered it."""
        if 0 not in os.sched_getaffinity(0):
            unavailable(self, "processor 0, where the kernel's records come from, is not for this process")
        generate(self.dir, os.path.join(HERE, "replay.tp"))
        program = build(self.path("program"), *(os.path.join(HERE, f"{one}.c") for one in ("program", "play")),
                        include=[self.dir, HERE], flags=RUNTIME_INCLUDES[2:])
        done = subprocess.run([program, os.path.join(HERE, "records.txt"), os.path.join(HERE, f"{name}.txt")], capture_output=True,
                              encoding="utf-8", errors="surrogateescape", timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        theirs, ours = read(name), parse(done.stdout)
        self.assertEqual([command.text for command in ours], [command.text for command in theirs])
        return [pair for pair in zip(theirs, ours) if pair[0].text.split()[0] not in _KERNEL_ONLY]
