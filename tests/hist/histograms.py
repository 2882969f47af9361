# SPDX-License-Identifier: MIT
"""The driver, which makes histograms, hits events and shows what was counted."""

from __future__ import annotations

import glob
import os
import subprocess

from building import build, generate, sanitize
from support import BUILD, PATIENCE, ROOT, Case

HERE = os.path.dirname(os.path.abspath(__file__))


class Histograms(Case):
    sanitizer = ""
    program = "driver"
    events = "events"

    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, os.path.join(HERE, f"{self.events}.tp"))
        # As the unit tests, it uses functions that libtp.so does not export.
        flags = ["-rdynamic", "-iquote", os.path.join(ROOT, "runtime/src"), *sanitize(self.sanitizer)]
        objects = glob.glob(os.path.join(BUILD, self.sanitizer, "runtime/src/**/*.o"), recursive=True) if self.sanitizer else []
        build(self.path(self.program), os.path.join(HERE, f"{self.program}.c"), include=[self.dir], flags=flags,
              **({"libtp": "", "link": [*objects, "-lurcu-bp", "-lpthread", "-ldl"]} if objects else {}))

    def ask(self, *lines: str, errors: str = "") -> list[str]:
        """The program's lines; a histogram's text is one, without the "." behind it. errors: what it says on stderr."""
        done = subprocess.run([self.path(self.program)], input="\n".join(lines) + "\n", capture_output=True, text=True,
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
