# SPDX-License-Identifier: MIT
"""The README's tour and the programs in docs/ work word for word.

In these pages a fenced block behind a line that ends with `name`: is that
file; a block of sh is run; a block of text behind it is what it prints, "..."
standing for anything, and the numbers for any numbers.
"""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass

from support import ROOT, Case, need, read, run

_BLOCK = re.compile(r"^(?P<before>[^\n]*)\n+```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.S | re.M)


@dataclass
class Block:
    kind: str  # sh, c, make, text
    name: str  # of the file that it is; else ""
    text: str


def blocks(text: str) -> list[Block]:
    found = []
    for match in _BLOCK.finditer(text):
        name = re.search(r"`([\w.-]+)`:$", match["before"])
        found.append(Block(match["kind"], name[1] if name else "", match["text"]))
    return found


def section(path: str, title: str) -> str:
    """The text below a heading, until the next of its level."""
    text = read(os.path.join(ROOT, path))
    return re.split(r"^#{1,2} ", text[text.index(f"\n## {title}\n") + 1:][3:], maxsplit=1, flags=re.M)[0]


def pattern(line: str) -> str:
    """A regular expression for a line of output: numbers, the host and times may be others."""
    line = re.sub(r"\(\+\S+\)", "\0", line)
    line = re.sub(r"(\d+\.\d+ \d+/\d+ )", "\1", line)
    line = re.escape(line).replace("\0", r"\(\+\S+\)").replace("\1", r"\d+\.\d+ \d+/\d+ ")
    line = re.sub(r"\\\[[\d:\\.]+\\\]", r"\\[[\\d:.]+\\]", line)
    return re.sub(r"\\ \w+:(?=server\\ )", r"\\ \\S+:", line).replace(r"\.\.\.", ".*")


class Docs(Case):
    def setUp(self) -> None:
        super().setUp()
        need(self, "make", "pkg-config", "gcc", "babeltrace2", "bash")
        self.env = {**os.environ, "HOME": self.dir, "CC": "gcc", "MAKEFLAGS": "", "LC_ALL": "C"}
        for name in ("TP_ENABLE", "TP_OUTPUT", "TP_CONTROL"):
            self.env.pop(name, None)
        self.env["XDG_RUNTIME_DIR"] = self.path("run")
        os.mkdir(self.path("run"), 0o700)
        self.project = self.path("project")
        self.flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{self.path('tp/include')}", f"-L{self.path('tp/lib')}",
                      f"-Wl,-rpath,{self.path('tp/lib')}"]

    def install(self) -> None:
        self.succeed(["make", "install", f"PREFIX={self.path('tp')}"], cwd=ROOT, env=self.env)

    def generate(self, name: str) -> None:
        self.succeed([self.path("tp/bin/tpgen"), "gen", "-o", self.project, name], cwd=self.project)

    def program(self, name: str) -> str:
        output = os.path.join(self.project, name)
        self.succeed(["gcc", *self.flags, "-o", output, name + ".c", "-ltp", "-lurcu-bp"], cwd=self.project)
        return output

    def same(self, expected: str, got: str) -> None:
        lines = got.splitlines()
        for line in expected.splitlines():
            if line != "..." and not any(re.fullmatch(pattern(line), one) for one in lines):
                self.fail(f"the page says\n{line}\nbut what came is\n{got}")

    def test_tour(self) -> None:
        tour = blocks(section("README.md", "A ten-minute tour"))
        script = ["cd " + ROOT]
        expected: list[tuple[str, str]] = []  # what is run, and what it prints
        for block in tour:
            if block.name:
                script.append(f"cat >{block.name} <<'END OF FILE'\n{block.text}END OF FILE")
            elif block.kind == "sh":
                script.append(f"echo '<<<'\n{block.text}echo \">>>$?\"")
                expected.append((block.text, ""))
            elif block.kind == "text":
                expected[-1] = (expected[-1][0], block.text)
        text = "\n".join(script).replace("--for 0.5", "--for 4")  # a busy machine may leave the server no time
        done = run(["bash", "-c", "exec 2>&1\n" + text], env=self.env)
        self.assertEqual(done.returncode, 0, done.stdout)
        printed = re.findall(r"^<<<\n(.*?)^>>>(\d+)$", done.stdout, re.S | re.M)
        self.assertEqual(len(printed), len(expected), done.stdout)
        self.assertGreater(len(printed), 5)
        for (command, wanted), (output, status) in zip(expected, printed):
            with self.subTest(command=command):
                self.assertEqual(status != "0", ": error: " in wanted, output)
                self.same(wanted, output)

    def test_thirty_seconds(self) -> None:
        self.install()
        first = blocks(section("README.md", "Thirty seconds"))
        for block in first:
            if block.name:
                self.write(f"project/{block.name}", block.text)
        self.generate("tick.tp")
        done = self.succeed([self.program("tick")], env={**self.env, "TP_ENABLE": "clock:*"})
        wanted = next(b.text for b in first if b.kind == "text")
        self.same(wanted, done.stderr)
        self.assertEqual(done.stderr.count("\n"), wanted.count("\n"))

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

    def test_links(self) -> None:
        """Links between the pages lead somewhere."""
        docs = glob.glob("docs/**/*.md", root_dir=ROOT, recursive=True)
        pages = ["README.md", *sorted(docs)]
        anchors = {}
        for page in pages:
            headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", read(os.path.join(ROOT, page)), flags=re.S | re.M), re.M)
            anchors[page] = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
        for page in pages:
            for target in re.findall(r"\]\(([^)\s]+)\)", read(os.path.join(ROOT, page))):
                if "://" in target:
                    continue
                path, _, anchor = target.partition("#")
                where = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                self.assertTrue(os.path.exists(os.path.join(ROOT, where)), f"{page}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors[where], f"{page}: {target}")
