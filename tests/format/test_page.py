# SPDX-License-Identifier: MIT
"""docs/adopting/fmt.md works word for word, and its other files do what they are for."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from docs.pages import Page, section
from support import ROOT, Case, need, read, run

from format.test_command import BAD, BROKEN, GOOD

PAGE = "docs/adopting/fmt.md"


def command(case: Case) -> str:
    """A directory in which tpgen is."""
    path = case.write("bin/tpgen", f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m tpgen \"$@\"\n")
    os.chmod(path, 0o755)
    return os.path.dirname(path)


class Fmt(Page):
    def test_page(self) -> None:
        self.env["PATH"] = f"{command(self)}:{self.env['PATH']}"
        os.mkdir(self.project)
        self.walk("Elsewhere:\n\n```sh\ncd ~/project\n```\n" + read(os.path.join(ROOT, PAGE)))

    def test_hook(self) -> None:
        """What pre-commit runs, and on which files."""
        hook = section(PAGE, "In CI")
        files = re.search(r"^    files: (.*)$", hook, re.M)
        entry = re.search(r"^    entry: tpgen (.*)$", hook, re.M)
        assert files and entry
        self.assertEqual([bool(re.search(files[1], name)) for name in ("a/net.tp", "net.tpx", "nettp")], [True, False, False])
        path = self.write("x.tp", BAD)
        self.succeed([os.path.join(command(self), "tpgen"), *entry[1].split(), path])
        self.assertEqual(read(path), GOOD)

    def test_vim(self) -> None:
        need(self, "vim")
        line = re.search(r"^autocmd.*$", section(PAGE, "In an editor"), re.M)
        assert line
        vimrc = self.write(".vimrc", f"{line[0]}\n")
        for text, wanted in ((BAD, GOOD), (GOOD, GOOD)):
            path = self.write("x.tp", text)
            done = run(["vim", "-N", "-u", vimrc, "-es", "-c", "normal! gggqG", "-c", "wq", path],
                       env={**self.env, "PATH": f"{command(self)}:{self.env['PATH']}"})
            self.assertEqual((done.returncode, read(path)), (0, wanted), done.stderr)

    def test_nothing_is_written_after_a_mistake(self) -> None:
        done = subprocess.run([os.path.join(command(self), "tpgen"), "fmt", "-"], input=BROKEN, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
