# SPDX-License-Identifier: MIT
"""Mutated definition files: whatever the input, tpgen says something sensible or compiles it, in bounded time.

FUZZ=N runs N mutations instead of the short form's number, SEED=N begins elsewhere:

    FUZZ=20000 SEED=$RANDOM python3 tests/run.py fuzz
"""

from __future__ import annotations

import glob
import os
import random
import re
import time

from support import ROOT, Case, read

from tpgen.backends import BACKENDS
from tpgen.cli import compile_files
from tpgen.diag import Diagnostics
from tpgen.render import render

RUNS = int(os.environ.get("FUZZ", "150"))
SEED = int(os.environ.get("SEED", "1"))
SECONDS = 20  # for one file; the preprocessor's own limit is longer

_PIECE = re.compile(r"\w+|\"(?:\\.|[^\"\\\n])*\"|\s+|.", re.S)
_SPICE = ["(", ")", "{", "}", "[", "]", ",", ";", "\"", "'", "/*", "*/", "\\\n", "#", "##", "\0", "\udcff", "\t", "%s",
          "__entry->", "TRACE_EVENT(", "TP_printk(", "#define X X\n", "\n#if 0\n", "\n#endif\n", "...", "0x", "é"]


class Fuzz(Case):
    def survive(self, text: str, what: str) -> Diagnostics:
        path = self.write("fuzz.tp", text)
        diag = Diagnostics()
        start = time.monotonic()
        try:
            units = compile_files([path], [], diag)
            if not diag.errors:
                for lowered in units:
                    _, template, view = BACKENDS["userspace"](lowered.unit)
                    render(template, view, "fuzz.h")
            diag.text()
        except Exception as error:
            kept = os.path.join(ROOT, "build", "fuzz.tp")
            with open(kept, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            raise AssertionError(f"{what}: the input is in {kept}") from error
        self.assertLess(time.monotonic() - start, SECONDS, what)
        return diag

    def test_mutations(self) -> None:
        corpus = [read(p) for p in sorted(glob.glob(os.path.join(ROOT, "defs/*.tp"))
                                          + glob.glob(os.path.join(ROOT, "tests/*/*.tp")))]
        for run in range(RUNS):
            rng = random.Random(f"{SEED}/{run}")
            pieces = _PIECE.findall(rng.choice(corpus))
            for _ in range(rng.randint(1, 6)):
                at = rng.randrange(len(pieces) + 1)
                kind = rng.randrange(6)
                if kind == 0:
                    del pieces[at:at + rng.randint(1, 5)]
                elif kind == 1:
                    pieces[at:at] = pieces[at:at + rng.randint(1, 30)]
                elif kind == 2:
                    pieces.insert(at, rng.choice(_SPICE))
                elif kind == 3 and pieces:
                    other = rng.randrange(len(pieces))
                    at = min(at, len(pieces) - 1)
                    pieces[at], pieces[other] = pieces[other], pieces[at]
                elif kind == 4:
                    pieces[at:] = pieces[at:] if rng.random() < 0.7 else []
                else:
                    pieces.insert(at, "".join(chr(rng.choice([rng.randrange(128), 0xdc80 + rng.randrange(128)]))
                                              for _ in range(rng.randint(1, 20))))
                pieces = pieces or [" "]
            self.survive("".join(pieces), f"SEED={SEED} run {run}")

    def test_deep_nesting(self) -> None:
        for opening, closing in ("()", "[]", "{}"):
            deep = opening * 20000
            self.survive(f"#define TRACE_SYSTEM x\nTRACE_EVENT(a, TP_PROTO(int {deep}", "open")
            self.survive("#define TRACE_SYSTEM x\nTRACE_EVENT(a, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry("
                         f"__field(int, a)), TP_fast_assign(__entry->a = {deep}1{closing * 20000};), "
                         f"TP_printk(\"%d\", {deep}1{closing * 20000}));\n", "nested")

    def test_long_lines(self) -> None:
        event = ("TRACE_EVENT(e%d, TP_PROTO(int a), TP_ARGS(a), TP_STRUCT__entry(__field(int, a)), "
                 "TP_fast_assign(__entry->a = a;), TP_printk(\"%%d\", __entry->a)); ")
        diag = self.survive("#define TRACE_SYSTEM x\n" + "".join(event % n for n in range(2000)), "one long line")
        self.assertEqual(diag.errors, 0)
        self.survive("#define TRACE_SYSTEM x\n" + "TRACE_EVENT(e, " + "a" * (1 << 20), "a long name")
        self.survive("#define TRACE_SYSTEM x\nTRACE_EVENT(e, TP_PROTO(int a), " + "__feild(" * 50000, "a long mistake")

    def test_macros(self) -> None:
        self.survive("#define A B A\n#define B A B\nTRACE_EVENT(A, B, A)\n", "recursion")
        bomb = "#define X0 xxxxxxxxxx\n" + "".join(f"#define X{n} " + f"X{n - 1} " * 10 + "\n" for n in range(1, 10))
        diag = self.survive(bomb + "TRACE_EVENT(X9)\n", "macros that multiply")
        self.assertEqual(diag.errors, 1)
