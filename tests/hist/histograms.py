# SPDX-License-Identifier: MIT
"""The driver, which makes histograms, hits events and shows what was counted."""

from __future__ import annotations

import functools
import json
import os
import subprocess

from building import build, generate, sanitize, sanitized
from support import PATIENCE, ROOT, Case, temporary

HERE = os.path.dirname(os.path.abspath(__file__))


def make(directory: str, program: str, sanitizer: str, *events: str) -> str:
    """Builds a program of this folder, and the headers of its events; it can call functions that libtp.so does not export."""
    generate(directory, *(os.path.join(HERE, f"{name}.tp") for name in events))
    flags = ["-rdynamic", "-iquote", os.path.join(ROOT, "runtime/src")]
    how = {"libtp": "", "link": [os.path.join(sanitized(sanitizer), "libtp.a"), "-lurcu-bp", "-lpthread"]} if sanitizer else {}
    return build(os.path.join(directory, program), os.path.join(HERE, f"{program}.c"), include=[directory],
                 flags=[*flags, *sanitize(sanitizer)], **how)


def objects(text: str) -> list[dict]:
    """Those of a text with JSON, each with a newline behind it."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        made, at = decoder.raw_decode(text, at)
        found.append(made)
        at += 1  # the newline
    return found


@functools.cache
def driver(program: str, events: str, sanitizer: str) -> str:
    """Its path: one for all tests of a file."""
    return make(temporary(), program, sanitizer, events, "tasks")


class Histograms(Case):
    sanitizer = ""
    program = "driver"
    events = "events"

    def ask(self, *lines: str, errors: str = "") -> list[str]:
        """The program's lines; a histogram's text is one, without the "." behind it. errors: what it says on stderr."""
        command = driver(self.program, self.events, self.sanitizer)
        done = subprocess.run([command], cwd=self.dir, input="\n".join(lines) + "\n", capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, errors)
        answers: list[str] = []
        text: list[str] | None = None
        for line in done.stdout.splitlines():
            if line.startswith(("# event", "{\"", "[{")) and text is None:
                text = []
            if text is None:
                answers.append(line)
            elif line == ".":
                answers.append("".join(part + "\n" for part in text))
                text = None
            else:
                text.append(line)
        return answers

    def entries(self, text: str) -> list[str]:
        """The lines of a text between its head and its totals."""
        return text.split("\n#\n\n")[1].split("\nTotals:")[0].splitlines()
