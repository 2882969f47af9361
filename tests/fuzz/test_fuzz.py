# SPDX-License-Identifier: MIT
"""Mutated definition files and kernel headers: whatever the input, tpgen says something sensible or compiles it, in
bounded time and memory.

FUZZ=N runs N mutations instead of the short form's number, SEED=N begins elsewhere:

    FUZZ=20000 SEED=$RANDOM python3 tests/run.py fuzz
"""

from __future__ import annotations

import contextlib
import glob
import os
import random
import re
import resource
import time

from format.tokens import tokens
from support import ROOT, Case, both, check_all, few_or_many, read, tpgen

from tpgen.backends import BACKENDS
from tpgen.frontend import compile_files
from tpgen.cpp import Options
from tpgen.diag import Diagnostics
from tpgen.format import formatted
from tpgen.parser import MACROS
from tpgen.render import render
from tpgen.source import SourceError

RUNS = few_or_many(40, 150, "FUZZ")
SEED = int(os.environ.get("SEED", "1"))
SECONDS = 10  # of the processor, for one file; the compilers that it starts have limits of their own
KILOBYTES = 512 << 10  # all that tpgen has ever held, after all runs

# What the kernel's own headers need of its configuration.
KERNEL = Options(("-DIS_ENABLED(option)=0", "-DIS_BUILTIN(option)=0", "-DIS_REACHABLE(option)=0"), undefined=MACROS)

_PIECE = re.compile(r"\w+|\"(?:\\.|[^\"\\\n])*\"|\s+|.", re.S)
SPICE = ["(", ")", "{", "}", "[", "]", ",", ";", "\"", "'", "/*", "*/", "\\\n", "#", "##", "\0", "\udcff", "\t", "%s",
          "__entry->", "TRACE_EVENT(", "DEFINE_EVENT_PRINT(", "TRACE_DEFINE_ENUM(", "__rel_string(", "__print_flags(", "%pI4",
          "%*ph", "TP_printk(", "#define X X\n", "\n#if 0\n", "\n#endif\n", "...", "0x", "é", "\n#endif\n" * 300, "*" * 300, "(" * 300, "__print_symbolic(" * 300,
          "TRACE_EVENT(" * 300, " TP_PROTO" * 300, "__field(int, a)" * 300, "\n#include <linux/sched.h>\n", "\n#undef TRACE_SYSTEM\n"]


class Fuzz(Case):
    def survive(self, text: str, what: str) -> Diagnostics:
        path = self.write("fuzz.tp", text)
        diag = Diagnostics(remarks=True)
        start = time.process_time()
        try:
            units = [lowered.unit for lowered in compile_files([path], KERNEL, diag)]
            if not diag.errors:
                for output in BACKENDS["userspace"](units, lambda *_: None):
                    render(output.template, output.view, "fuzz.h")
            diag.text()
            with contextlib.suppress(SourceError):  # too many tokens
                laid_out = formatted(text)
                self.assertEqual((tokens(laid_out), formatted(laid_out)), (tokens(text), laid_out))
        except Exception as error:
            kept = os.path.join(ROOT, "build", "fuzz.tp")
            with open(kept, "w", encoding="utf-8", errors="surrogateescape") as file:
                file.write(text)
            raise AssertionError(f"{what}: the input is in {kept}") from error
        self.assertLess(time.process_time() - start, SECONDS, what)
        return diag

    @both
    def test_mutations(self) -> None:
        own = sorted(glob.glob(os.path.join(ROOT, "defs/*.tp")) + glob.glob(os.path.join(ROOT, "tests/*/*.tp")))
        kernel = sorted(glob.glob("/usr/src/linux-headers-*-common/include/trace/events/*.h"))
        # Without the kernel's headers, which are long, there is less to find.
        for run in range(RUNS):
            rng = random.Random(f"{SEED}/{run}")
            path = rng.choice(kernel if kernel and run % 2 else own)
            pieces = self.window(rng, _PIECE.findall(read(path)))
            for _ in range(rng.randint(1, 6)):
                at = rng.randrange(len(pieces) + 1)
                kind = rng.randrange(6)
                if kind == 0:
                    del pieces[at:at + rng.randint(1, 5)]
                elif kind == 1:
                    pieces[at:at] = pieces[at:at + rng.randint(1, 30)]
                elif kind == 2:
                    pieces.insert(at, rng.choice(SPICE))
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
            self.survive("".join(pieces), f"SEED={SEED} run {run}: {path}")
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
            self.assertLess(resource.getrusage(who).ru_maxrss, KILOBYTES)

    @staticmethod
    def window(rng: random.Random, pieces: list[str]) -> list[str]:
        """Some thousand pieces of a longer file: its beginning, where its macros are, and a part of the rest."""
        if len(pieces) < 6000:
            return pieces
        at = rng.randrange(2000, len(pieces) - 2000)
        return pieces[:2000] + pieces[at:at + 2000]

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

    @check_all("inputs of megabytes")
    def test_long_inputs(self) -> None:
        """What takes time by the square of its length, where nothing bounds it."""
        event = ('#define TRACE_SYSTEM x\nTRACE_EVENT(e, TP_PROTO({proto}), TP_ARGS(a), TP_STRUCT__entry({fields}), '
                 'TP_fast_assign({assign}), TP_printk("%d", {value}));\n').format
        usual = {"proto": "int a", "fields": "__field(int, a)", "assign": "__entry->a = a;", "value": "__entry->a"}
        long = {
            "errors of the preprocessor": "#endif\n" * 20000,
            "words of parts": f"TRACE_EVENT(e, {'x TP_PROTO ' * 20000});",
            "declarations that are never closed": "TRACE_EVENT(\n" * 50000,
            "declarations that a macro opens": "#define X " + "TRACE_EVENT(" * 5000 + "\nX\n",
            "nested tables": event(**{**usual, "value": "__print_symbolic(" * 4000 + "1" + ', {1, "a"})' * 4000}),
            "pointers": event(**{**usual, "proto": f"int {'*' * 2000}a"}),
            "pointers to fields": event(**{**usual, "fields": f"__field(int {'*' * 2000}, a)"}),
            "a sum": event(**{**usual, "value": "+".join(["1"] * 5000)}),
            "parameters": event(**{**usual, "proto": ", ".join(f"int a{n}" for n in range(20000))}),
            "words": "#define TRACE_SYSTEM x\n" + "int a;\n" * 500000,
            "words of macros": "#define X4 x x x x\n#define X16 X4 X4 X4 X4\n#define X64 X16 X16 X16 X16\n" + "X64 X64 X64 X64\n" * 20000,
        }
        for what, text in long.items():
            with self.subTest(what):
                self.survive(text, what)

    def test_macros(self) -> None:
        self.survive("#define A B A\n#define B A B\nTRACE_EVENT(A, B, A)\n", "recursion")
        bomb = "#define X0 xxxxxxxxxx\n" + "".join(f"#define X{n} " + f"X{n - 1} " * 10 + "\n" for n in range(1, 10))
        diag = self.survive(bomb + "TRACE_EVENT(X9)\n", "macros that multiply")
        self.assertEqual(diag.errors, 1)

    def test_includes_of_themselves(self) -> None:
        path = self.write("again.tp", '#include "again.tp"\n#include "other.h"\n#define TRACE_SYSTEM x\n')
        self.write("other.h", '#include "again.tp"\n')
        done = tpgen("check", "--expand-includes", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("nested", done.stderr)
