# SPDX-License-Identifier: MIT
"""A script of this folder with a kernel's answers, and with those of our program."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field

from building import build, generate
from support import PATIENCE, Case

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclass
class Command:
    """A line of a script, and what was answered."""

    case: str  # the "=" line above it
    line: int  # its number in the file
    text: str  # without ">"
    answers: list[str] = field(default_factory=list)


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

    def replay(self, name: str) -> list[tuple[Command, Command]]:
        """Each command as the kernel and as our program have answered it."""
        generate(self.dir, os.path.join(HERE, "replay.tp"))
        program = build(self.path("program"), os.path.join(HERE, "program.c"), os.path.join(HERE, "play.c"), include=[self.dir, HERE])
        done = subprocess.run([program, os.path.join(HERE, "records.txt"), os.path.join(HERE, f"{name}.txt")], capture_output=True,
                              encoding="utf-8", errors="surrogateescape", timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        theirs, ours = read(name), parse(done.stdout)
        self.assertEqual([command.text for command in ours], [command.text for command in theirs])
        return list(zip(theirs, ours))
