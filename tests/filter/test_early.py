# SPDX-License-Identifier: MIT
"""A filter is evaluated before the fields that it does not need are computed, where TP_fast_assign allows it."""

from __future__ import annotations

import os
import re

from building import CC, build, call, generate
from support import BUILD, Case, need, read

HERE = os.path.dirname(os.path.abspath(__file__))

# What early.c prints, without what the text sink has in front of an event. A hit's number is that of the computations.
EXPECTED = """\
--- number == 1
hit: 0
early:early_hit: number=1 bits=0 size=4 counted=1 text=accepted
hit: 2
one: 0
early:early_class_two: size=4 counted=1 number=1 text=accepted
two: 1
early:early_hit: number=1 bits=1 size=4 counted=1 text=handler
signal: 2
--- number < 0 || number & 4 && common_type != 0 && common_flags == 0
early:early_hit: number=-2147483647 bits=0 size=4096 counted=-2147483647 text=accepted
hit: 2
early:early_hit: number=4 bits=0 size=4096 counted=4 text=accepted
hit: 2
hit: 0
--- bits == 65535 && !(number >= 10)
early:early_hit: number=9 bits=65535 size=4096 counted=9 text=accepted
hit: 2
hit: 0
hit: 0
--- number == 1 && common_pid == PID && comm != "nobody" && cpu >= 0

early:early_hit: number=1 bits=0 size=4 counted=1 text=accepted
hit: 2
hit: 0
--- common_pid == 0
hit: 0
--- comm == "nobody"
hit: 0
--- number == 1 || text == "late"
early:early_hit: number=1 bits=0 size=4 counted=1 text=accepted
hit: 2
hit: 2
early:early_hit: number=2 bits=0 size=4 counted=2 text=late
hit: 2
--- bits != 1 && (number == 1 || text == "late")
early:early_hit: number=1 bits=0 size=4 counted=1 text=accepted
hit: 2
hit: 2
hit: 0
--- text == "late" && number == 1
hit: 2
--- size == 4096
early:early_hit: number=1 bits=0 size=4096 counted=1 text=accepted
hit: 2
hit: 2
--- counted == 7
early:early_hit: number=7 bits=0 size=4096 counted=7 text=accepted
hit: 2
hit: 2
--- size == 4096 && counted > 1
early:early_class_one: size=4096 counted=2 number=2 text=accepted
one: 1
one: 1
--- number == 1
lost: 0
lost: 1
both: 1
--- no filter
early:early_hit: number=2 bits=0 size=4 counted=2 text=accepted
hit: 2
hit: 0
--- number == 1
early:early_hit: number=1 bits=0 size=4 counted=1 text=accepted
hit: 2
hit: 0
"""


class Early(Case):
    def setUp(self) -> None:
        super().setUp()
        generate(self.dir, os.path.join(HERE, "early.tp"))

    def program(self, **options) -> str:
        return build(self.path("early"), os.path.join(HERE, "early.c"), include=[self.dir], **options)

    def said(self, program: str) -> str:
        text = self.succeed([program]).stdout
        return re.sub(r"common_pid == [1-9]\d*", "common_pid == PID", re.sub(r"^[\d.]+ \d+/\d+ ", "", text, flags=re.M))

    def test_as_shipped(self) -> None:
        for options in ({"flags": ["-O2"]}, {"flags": ["-O0"]}, {"flags": ["-O3", "-DTP_STATIC_KEYS=0"]}, {"libtp": "asan"}):
            with self.subTest(options):
                self.assertEqual(self.said(self.program(**{"libtp": "whole", **options})), EXPECTED)

    def test_older_library(self) -> None:
        """It lacks the functions: all fields are computed, and the records are the same."""
        script = read(os.path.join(BUILD, "libtp.map")).replace("tp_early_sin[k];", "")
        self.assertNotIn("early", script)
        library = self.path("libtp.so")
        call([CC, "-shared", "-Wl,-z,nodelete", "-o", library, f"-Wl,--version-script={self.write('older.map', script)}",
              "-Wl,--whole-archive", os.path.join(BUILD, "libtp.a"), "-Wl,--no-whole-archive", "-lurcu-bp", "-lpthread"])
        text = (read(os.path.join(HERE, "early.c"))
                .replace("nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);", 'nowhere = "refused";'))
        program = build(self.path("older"), self.write("older.c", text), include=[self.dir], libtp="",
                        link=[f"-Wl,-rpath,{self.dir}", library, "-lurcu-bp", "-ldl", "-lpthread"])
        records = [line for line in EXPECTED.splitlines() if line.startswith("early:")]
        said = self.said(program).splitlines()
        self.assertEqual([line for line in said if line.startswith("early:")], records)
        self.assertNotIn("hit: 0\nhit", "\n".join(said))

    def test_clang(self) -> None:
        need(self, "clang")
        self.assertEqual(self.said(self.program(compiler="clang")), EXPECTED)
