# SPDX-License-Identifier: MIT
"""A project outside, which uses an installed tpgen: the events and the program of the README's tour, and what its builds run."""

from __future__ import annotations

import os
import re
import shutil
import sys

from docs.pages import blocks
from support import ROOT, TESTS, Case, need, read

sys.path.insert(0, os.path.join(TESTS, "arch"))

from platforms import AARCH64  # noqa: E402, F401 # for projects that are compiled for it

_LOGGER = '#!/bin/sh\necho "{name} $*" >>"{log}"\nexec {program} "$@"\n'
MISTAKE = "error: no field macro is called '__feild'; did you mean '__field'?"
OTHER = "int other(void);\nint other(void)\n{\n\treturn 0;\n}\n"


def shown(page: str, name: str) -> str:
    """The file of this name that a page shows."""
    return next(block.text for block in blocks(read(os.path.join(ROOT, page))) if block.name == name)


def shown_with(page: str, line: str) -> str:
    """The block with this line that a page shows."""
    return next(block.text for block in blocks(read(os.path.join(ROOT, page))) if line in block.text)


def page_script(page: str) -> str:
    """The commands that a page shows."""
    return "".join(block.text for block in blocks(read(os.path.join(ROOT, page))) if block.kind == "sh")


class Project(Case):
    """The tour's events and program, beside `disk.tp`, whose header one file includes, and `other.c`, which has no tracepoint."""

    def setUp(self) -> None:
        super().setUp()
        need(self, "pkg-config", "make")
        prefix = self.path("usr")
        self.succeed(["make", "-C", ROOT, "install", f"PREFIX={prefix}"])
        self.log = self.write("log", "")
        tpgen = os.path.join(prefix, "bin/tpgen")
        os.rename(tpgen, tpgen + ".real")
        gcc = shutil.which("gcc")
        for path, name, program in ((tpgen, "tpgen", tpgen + ".real"), (self.path("bin/gcc"), "gcc", gcc)):
            self.write(os.path.relpath(path, self.dir), _LOGGER.format(name=name, log=self.log, program=program))
            os.chmod(path, 0o755)
        self.env = {**os.environ, "PKG_CONFIG_PATH": os.path.join(prefix, "lib/pkgconfig"), "MAKEFLAGS": "", "CC": "gcc",
                    "PATH": f"{self.path('bin')}:{prefix}/bin:{os.environ['PATH']}"}
        for name in ("TP_ENABLE", "CFLAGS", "LDFLAGS", "CPPFLAGS"):
            self.env.pop(name, None)
        self.project = self.path("project")
        self.folders: dict[str, str] = {}
        self.save("net.tp", shown("README.md", "net.tp"))
        # An event of its own, which stats.c doesn't know.
        self.save("disk.tp", re.sub(r"\bnet(?=_request|$)", "disk", shown("README.md", "net.tp"), flags=re.M))
        self.save("server.c", shown("README.md", "server.c").replace(
            '#include "net.h"\n', '#include "disk.h"\n#include "net.h"\n').replace(
            "\tputs(", "\ttrace_disk_request(\"sda\", 'G', 1);\n\tputs("))
        self.save("stats.c", shown("README.md", "stats.c"))
        self.save("other.c", OTHER)

    def place(self, name: str) -> str:
        """A file of the project, in its folder of those in self.folders."""
        return os.path.join(self.project, self.folders.get(name, ""), name)

    def save(self, name: str, text: str) -> None:
        self.write(os.path.relpath(self.place(name), self.dir), text)

    def move(self, **folders: str) -> None:
        """Puts files, whose names are given without what is behind the dot, into folders."""
        for stem, folder in folders.items():
            for name in [name for name in os.listdir(self.project) if name.startswith(f"{stem}.")]:
                self.folders[name] = folder
                os.renames(os.path.join(self.project, name), self.place(name))

    def ran(self, command: list[str]) -> list[str]:
        """What a build has run: "tpgen net.tp", "gcc server.c", and "link"."""
        with open(self.log, "w", encoding="utf-8"):
            pass
        self.succeed(command, cwd=self.project, env=self.env)
        out = []
        for line in read(self.log).splitlines():
            tool, rest = line.split(" ", 1)
            sources = re.findall(r"(\w+\.(?:tp|c))(?=\s|$)", rest)
            if tool == "tpgen" or " -c" in line:
                out.append(f"{tool} {sources[-1]}")
            elif re.search(r" -o (?:\S*/)?server(?= |$)", line):
                out.append("link")
        return sorted(out)

    def all_of(self, build: list[str]) -> None:
        """A build, and what is run again after each kind of change."""
        first = self.ran(build)
        self.assertEqual(first, ["gcc other.c", "gcc server.c", "gcc stats.c", "link", "tpgen disk.tp", "tpgen net.tp"])
        self.assertEqual(self.ran(build), [])
        for _ in range(2):
            self.save("net.tp", read(self.place("net.tp")))
            self.assertEqual(self.ran(build), ["tpgen net.tp"], "touched: tpgen runs once, and nothing is compiled")
            self.assertEqual(self.ran(build), [], "and not again")
        self.save("net.tp", read(self.place("net.tp")).replace("size=%zu", "bytes=%zu"))
        self.assertEqual(self.ran(build), ["gcc server.c", "gcc stats.c", "link", "tpgen net.tp"], "changed: its users")
        self.assertEqual(self.ran(build), [])
        self.save("disk.tp", read(self.place("disk.tp")).replace("size=%zu", "bytes=%zu"))
        self.assertEqual(self.ran(build), ["gcc server.c", "link", "tpgen disk.tp"])
        self.assertEqual(self.ran(build), [])
        program = next(os.path.join(top, "server") for top, _, names in os.walk(self.project) if "server" in names)
        done = self.succeed([program], env={**self.env, "TP_ENABLE": "*"})
        self.assertRegex(done.stderr, "net:net_request: peer=10.0.0.1 method=GET bytes=100")
        self.assertRegex(done.stderr, "disk:disk_request: peer=sda method=GET bytes=1")
        self.assertIn("stats: 6 requests", done.stdout)

    def events(self, program: str) -> list[str]:
        """What the program has traced: "net G"."""
        done = self.succeed([self.path(program)], env={**self.env, "TP_ENABLE": "*"})
        return re.findall(r" \w+:(\w+)_request: peer=", done.stderr)

    def other(self, name: str, path: str, export: bool = False) -> None:
        """A .tp file with an event of this name."""
        text = re.sub(r"\bnet(?=_request|$)", name, shown("README.md", "net.tp"), flags=re.M)
        self.save(path, text + f"EXPORT_TRACEPOINT_SYMBOL({name}_request);\n" * export)

    def break_tp(self) -> None:
        self.save("net.tp", read(self.path("project/net.tp")).replace("__field(\tchar", "__feild(\tchar"))
