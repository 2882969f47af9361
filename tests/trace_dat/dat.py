# SPDX-License-Identifier: MIT
"""What the tests of tp's readers share: a trace of a program that has fields of all kinds, and the text sink's lines beside it."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDTRIP = os.path.join(os.path.dirname(HERE), "roundtrip")
sys.path.insert(0, ROUNDTRIP)

from building import build, generate  # noqa: E402
from random_events import random_program, write  # noqa: E402
from support import BUILD, Case, run  # noqa: E402


def expected(event: str, text: str) -> str:
    """The text sink's text, as libtraceevent prints what it knows in another way."""
    if event in ("array", "rel_array", "dynamic_array"):
        return " ".join(str(int(n, 16)) for n in re.findall("0x([0-9a-f]+)", text))
    if event.endswith("hex_dump"):
        return text.replace("\\ndump: ", " ").strip()
    return text.strip(" ")


class Recorded(Case):
    """A test with such a trace."""

    more_outputs = ""  # beside these, as TP_OUTPUT has them
    program = ""

    @classmethod
    def setUpClass(cls) -> None:
        directory = os.path.join(BUILD, "recorded", cls.__module__)  # each of its own, as files of tests run side by side
        os.makedirs(directory, exist_ok=True)
        generate(directory, os.path.join(HERE, "dat.tp"))
        cls.program = build(os.path.join(directory, "dat"), os.path.join(HERE, "dat.c"), include=[directory])

    def setUp(self) -> None:
        super().setUp()
        self.trace, self.text = self.path("trace"), self.path("text")

    def environment(self, options: str = "", patterns: str = "*") -> dict[str, str]:
        return {**os.environ, "TP_ENABLE": patterns, "TP_OUTPUT": f"ctf:{self.trace}{options};text:{self.text}{self.more_outputs}"}

    def record(self, *arguments: object, options: str = "", status: int = 0, patterns: str = "*") -> None:
        done = run([self.program, *map(str, arguments)], cwd=self.dir, env=self.environment(options, patterns))
        self.assertEqual(done.returncode, status, done.stderr)

    def record_program(self, name: str, events: str, hits: str, env: dict[str, str] | None = None) -> None:
        """A program whose own events these are, and that hits them so."""
        self.write(f"{name}.tp", f"#define TRACE_SYSTEM {name}\n{events}")
        self.write(f"{name}.c", '#include <stdint.h>\n#include <string.h>\n#define CREATE_TRACE_POINTS\n'
                   f'#include "{name}.h"\nint main(void)\n{{\n\t{hits}\n\treturn 0;\n}}\n')
        generate(self.dir, self.path(f"{name}.tp"))
        build(self.path(name), self.path(f"{name}.c"), include=[self.dir])
        self.succeed([self.path(name)], env=env or self.environment())

    def record_random(self, number: int) -> list[dict]:
        """One of roundtrip/test_random's programs. Its hits, in their order."""
        program = random_program(number)
        write(program, self.dir)
        generate(self.dir, self.path("random.tp"))
        build(self.path("random"), self.path("random.c"), os.path.join(ROUNDTRIP, "record_events.c"), include=[self.dir],
              flags=["-w"])
        self.succeed([self.path("random"), self.path("text"), self.path("records")], env={
            **os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.trace},packet=256K;text:{self.path('lines')}{self.more_outputs}"})
        return program.expected["hits"]

    @contextlib.contextmanager
    def before_the_end(self) -> Iterator[None]:
        """The program has recorded, and waits; behind this it ends."""
        with subprocess.Popen([self.program, "2", "30", "wait"], env=self.environment(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            assert process.stdin and process.stdout
            self.assertEqual(process.stdout.readline(), b"waiting\n")
            yield
            process.stdin.write(b"\n")

    @contextlib.contextmanager
    def flight_recorder(self) -> Iterator[None]:
        """The program records meanwhile, packet over packet."""
        with subprocess.Popen([self.program, "2", "100000000"], stderr=subprocess.DEVNULL, env={
                **os.environ, "TP_ENABLE": "*", "TP_OUTPUT": f"ctf:{self.trace},mode=flight,packet=16K"}) as process:
            try:
                yield
            finally:
                process.kill()
