# SPDX-License-Identifier: MIT
"""The README's tour and the programs in docs/ work word for word (pages.py)."""

from __future__ import annotations

import glob
import os

from docs.pages import Page, blocks, have_alone, section
from support import ROOT, read


class Docs(Page):
    def setUp(self) -> None:
        super().setUp()
        self.flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{self.path('tp/include')}", f"-L{self.path('tp/lib')}",
                      f"-Wl,-rpath,{self.path('tp/lib')}"]

    def generate(self, name: str) -> None:
        self.succeed([self.path("tp/bin/tpgen"), "gen", "-o", self.project, name], cwd=self.project)

    def program(self, name: str) -> str:
        output = os.path.join(self.project, name)
        self.succeed(["gcc", *self.flags, "-o", output, name + ".c", "-ltp", "-lurcu-bp"], cwd=self.project)
        return output

    def test_tour(self) -> None:
        have_alone(self, "server")
        self.walk(section("README.md", "A ten-minute tour"))

    def test_programs_of_the_api(self) -> None:
        """Each C file of docs/api.md, with the events of the tour."""
        self.install()
        self.write("project/net.tp", next(b.text for b in blocks(section("README.md", "A ten-minute tour"))
                                          if b.name == "net.tp"))
        self.generate("net.tp")
        programs = [b for b in blocks(read(os.path.join(ROOT, "docs/api.md"))) if b.name.endswith(".c")]
        self.assertTrue(programs)
        for block in programs:
            with self.subTest(block.name):
                self.write(f"project/{block.name}", block.text)
                self.succeed([self.program(block.name[:-2])], cwd=self.project, env=self.env)

    def test_without_tracing(self) -> None:
        """docs/language.md builds one program with tracing, and without."""
        self.install()
        self.write("project/net.tp", next(b.text for b in blocks(section("README.md", "A ten-minute tour"))
                                          if b.name == "net.tp"))
        found = blocks(section("docs/language.md", "Building where tpgen is not installed"))
        self.write("project/server.c", next(b.text for b in found if b.name == "server.c"))
        script = "set -e\n" + "".join(b.text for b in found if b.kind == "sh")
        tp = self.path("tp")
        done = self.succeed(["bash", "-c", script], cwd=self.project, env={
            **self.env, "PATH": f"{tp}/bin:{self.env['PATH']}", "PKG_CONFIG_PATH": f"{tp}/lib/pkgconfig"})
        self.assertEqual(done.stderr, "")
        wanted = next(b.text for b in found if b.kind == "text")
        self.same(wanted, done.stdout)
        self.assertEqual(done.stdout.count("\n"), wanted.count("\n"))

    def test_events_of_the_language(self) -> None:
        """Each .tp file of docs/language.md says nothing wrong."""
        self.install()
        files = [b for b in blocks(read(os.path.join(ROOT, "docs/language.md"))) if b.name.endswith(".tp")]
        self.assertTrue(files)
        for block in files:
            with self.subTest(block.name):
                self.write(f"project/{block.name}", block.text)
                self.generate(block.name)
                stem = block.name[:-3]
                self.write(f"project/{stem}.c", f'#define CREATE_TRACE_POINTS\n#include "{stem}.h"\n'
                           "int main(void)\n{\n\treturn 0;\n}\n")
                self.succeed([self.program(stem)])
