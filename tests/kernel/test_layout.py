# SPDX-License-Identifier: MIT
"""tpgen fmt on the kernel's trace headers: their tokens stay, and what tpgen makes of them stays."""

from __future__ import annotations

import difflib
import glob
import os
import random
import re

from format.tokens import mutated, tokens
from kernel import tree
from support import Case, both, few_or_many, note, read, tpgen

from tpgen.format import formatted

# Of so many headers, one is looked at; and of so many, the output is compared, which takes longer.
EACH = few_or_many(10, 1)
OUTPUT_OF_EACH = 1 if tree.EACH == 1 else few_or_many(10, 3)


def without_lines(header: str) -> str:
    """A generated header without the numbers of lines, and with blanks for all white space in its C."""
    words = " ".join(word for word in tokens(header) if not word.startswith("#line "))
    return re.sub(r"\b(TP_DEFINE_TRACE\w* \( \w+ , \w+ ,) \d+ ,", r"\1 LINE ,", words)


@both
class Headers(tree.Series):
    def check_series(self, found: tree.Tree) -> None:
        everything = sorted(glob.glob(f"{found.common}/include/trace/events/*.h"))
        headers = everything[::EACH]
        total = changed = same = 0
        for path in headers:
            text = read(path)
            new = formatted(text)
            self.assertEqual(tokens(new), tokens(text), path)
            self.assertEqual(formatted(new), new, path)
            self.assertEqual(formatted(mutated(new, random.Random(path), formatted)), new, path)
            self.write(f"old/{os.path.basename(path)}", text)
            self.write(f"new/{os.path.basename(path)}", new)
            total += text.count("\n")
            changed += differences(text, new)
            same += new == text
        note(f"Linux {found.series}, package {found.package}: of {len(headers)} headers {same} are formatted, of {total} lines "
             f"{changed} would change")
        self.same_output(found, [os.path.basename(path) for path in everything[::OUTPUT_OF_EACH]])

    def same_output(self, found: tree.Tree, names: list[str]) -> None:
        for version in ("old", "new"):
            done = tpgen("gen", *found.plain, "-o", f"../out-{version}", *names, cwd=self.path(version), env={"CC": "gcc"})
            self.assertEqual(done.returncode, 0, done.stderr)
        for name in names:
            old, new = (without_lines(read(self.path(f"out-{version}/{name}"))) for version in ("old", "new"))
            self.assertEqual(new, old, name)


def differences(old: str, new: str) -> int:
    blocks = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), False).get_opcodes()
    return sum(max(b - a, d - c) for kind, a, b, c, d in blocks if kind != "equal")


class WithoutLines(Case):
    def test_nothing_else_is_left_out(self) -> None:
        self.assertEqual(without_lines('#line 3 "x"\nint  a = 3;\nTP_DEFINE_TRACE_EVENT(a, b, 34, "3")\nTP_DEFINE_TRACEPOINT(a,\n\tb, 4, 5)'),
                         'int a = 3 ; TP_DEFINE_TRACE_EVENT ( a , b , LINE , "3" ) TP_DEFINE_TRACEPOINT ( a , b , LINE , 5 )')
