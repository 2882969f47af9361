# SPDX-License-Identifier: MIT
"""The outputs of docs/production.md are opened without a message, and its crash leaves a trace."""

from __future__ import annotations

import os
import re
import shlex

from docs.test_environment import program
from docs.pages import blocks
from support import BUILD, ROOT, Case, read, run

PAGE = read(os.path.join(ROOT, "docs/production.md"))


def outputs() -> list[str]:
    """The values of TP_OUTPUT: of commands, of the unit, where %% is %, and of the table."""
    commands = [word.partition("=")[2] for line in re.findall(r"^\t(.*TP_OUTPUT=.*)$", PAGE, re.M) for word in shlex.split(line)
                if word.startswith("TP_OUTPUT=")]
    unit = [value.replace("%%", "%") for value in re.findall(r'^Environment="TP_OUTPUT=(.*)"$', PAGE, re.M)]
    return commands + unit + re.findall(r"^\| [^|]* \| `((?:ctf|text|stats):[^`]*)` \|$", PAGE, re.M)


class Production(Case):
    def setUp(self) -> None:
        super().setUp()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("TP_")}

    def test_outputs(self) -> None:
        self.assertEqual(len(outputs()), 11, "the page has others: is each of them found?")
        for i, output in enumerate(outputs()):
            with self.subTest(output):
                os.mkdir(self.path(str(i)), 0o755)
                here = re.sub(r"/var/tmp|/dev/shm|/traces", self.path(str(i)), output)
                done = run([program()], env={**self.env, "TP_ENABLE": "net:*", "TP_OUTPUT": here}, cwd=self.dir)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(len(os.listdir(self.path(str(i)))), 1)

    def test_crash(self) -> None:
        """kill -9 of the process that has recorded."""
        script = next(block.text for block in blocks(PAGE) if block.kind == "sh")
        self.assertIn("& sleep 1\n", script)
        script = script.replace("& sleep 1\n", "& until [ $(tp report crashed 2>/dev/null | wc -l) = 3 ]; do sleep 0.1; done\n")
        self.write("server", f"#!/bin/sh\nexec {program()} stay\n")
        os.chmod(self.path("server"), 0o755)
        os.symlink(os.path.join(BUILD, "tp"), self.path("tp"))
        env = {**self.env, "PATH": f"{self.dir}:{self.env['PATH']}"}
        done = self.succeed(["bash", "-c", script], env=env, cwd=self.dir)
        self.assertEqual(len(re.findall(r" net:net_request: peer=10\.0\.0\.1 method=GET size=\d+$", done.stdout, re.M)), 3, done.stdout)
