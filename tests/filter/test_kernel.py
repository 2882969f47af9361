# SPDX-License-Identifier: MIT
"""Filters mean what a running kernel says that they mean, and mistakes have its words: kernel/replay/filters.txt.

Where that is not so, the table "Filters" of docs/internals/differences.md has a row, which is named here.
"""

from __future__ import annotations

import os
import re
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from kernel.replay import transcript  # noqa: E402
from kernel.replay.transcript import Command  # noqa: E402

MISTAKE = "parse_error: "
NO_NUMBER = "Illegal operation for field type: it is neither a number of 1, 2, 4 or 8 bytes nor a text"
NO_FIELD = "A field's name is missing"
LEAVE_OUT = "Illegal operation for field type: it is no pointer to a text; leave out .ustring"

# What is said here instead: a message; or "means FILTER", where the records are those that the kernel accepts for that one.
DEVIATIONS: dict[str, dict[str, str]] = {
    "`~ \"7*\"` is compared literally": {
        'text ~ "7*"': 'means text ~ "[7]*"',
        'text ~ "10.0.0.*"': 'means text ~ "[1]0.0.0.*"',
        'text ~ "1*"': 'means text ~ "[1]*"',
        'text ~ "!1*"': 'means !(text ~ "[1]*")',
        'fixed ~ "7*"': 'means fixed ~ "[7]*"',
    },
    "`~ \"*x\"` on `comm` or a `char[N]` looks at the array's end": {
        'fixed ~ "*c"': 'means fixed ~ "*[c]"',
        'fixed ~ "*h"': 'means fixed ~ "*[h]"',
        'full ~ "*d"': 'means full ~ "*[d]"',
    },
    "fields of other sizes (structures, arrays of numbers, bit masks) never match": {
        **dict.fromkeys(["triple == 0", "triple != 0", "list == 0", 'list == "a"'], NO_NUMBER),
    },
    "an array of numbers of 1, 2, 4 or 8 bytes is compared as one number": {
        **dict.fromkeys(["pair == 1", "pair == 65537", "pair & 1"], NO_NUMBER),
    },
    "a set of processors beside a number: its place in the record is compared": {
        **dict.fromkeys(["cpus & 1", "cpus == 1"], "Illegal operation for field type"),
    },
    "`cpu & 3` never matches": {"cpu & 1": "Illegal operation for field type"},
    "a number beyond the processors is neither in a `CPUS{}`, nor out of one by `!=`": {
        "u8 != CPUS{0-2}": "means seq > 0",
    },
    "names of values: no": {'method == "GET"': "means method == 1", 'method > "GET"': "means method > 1"},
    "`char *` fields, `.ustring`: the text is fetched": {
        'text.ustring == "a"': LEAVE_OUT,
        'u8.ustring == "a"': LEAVE_OUT,
    },
    "floating point: there is none": {"u8 == 1.5": "Illegal integer value"},
    "`stacktrace == 1` never matches": dict.fromkeys(
        ["stacktrace == 1", 'stacktrace == "x"'], "Field not found"),
    "`a == 1 && && b == 1`: an error without a text": {
        **dict.fromkeys(["", " "], "No filter found"),
        **dict.fromkeys(["== 1", "==", "u8 == 1 && && u8 == 2", "&& u8 == 1", "|| u8 == 1", "! && u8 == 1", "()", "u8 == 1 && ()", "(u8 == 1 &&)",
                         '"text" == text', "# u8 == 1", "-u8 == 1", "~u8 == 1"], NO_FIELD),
    },
    "an unknown field is told before its comparison's other mistakes": {
        **dict.fromkeys(["1", "foo", "u8 == 1 && foo.bar == 1", "u8 == 1 && foo = 1"], "Invalid operator"),
        "1 == u8": "Invalid value (did you forget quotes)?",
        "u8.function == 1": "Function not found",
    },
}

# Inside a comparison the kernel's caret is one place behind the byte at which it stopped, and at most at the end; it stops
# at the end of a name or value of which these are said. What is said of the whole expression is where the caret is.
EXACT = {"Too few '('", "Too many '('", "Missing matching quote", "Too many terms in predicate expression", "No filter found",
         "Meaningless filter expression"}
WORDS = {"Field not found": r"\w+$", "Operand too long": r"""(["'][^"']*|[-\w]+)$""", "Function not found": r"\S*$",
         "Invalid cpulist": r"(?<=\{)[^{]*$", "Missing '{'": r"(?<=CPUS).$"}


def mistake(command: Command) -> str:
    """The message, "" where there is none."""
    return next((line[len(MISTAKE):] for line in command.answers if line.startswith(MISTAKE)), "").rstrip()


def caret(command: Command) -> int | None:
    """The column of "^"."""
    return next((len(line) - 1 for line in command.answers if line.strip() == "^"), None)


def first_byte(text: str, message: str, behind: int) -> set[int]:
    """Where the mistake begins, by the kernel's caret."""
    if message in EXACT:
        return {behind}
    stopped = {behind, behind - 1} if behind == len(text) else {behind - 1}
    if message not in WORDS:
        return stopped
    return {match.start() for at in stopped if (match := re.search(WORDS[message], text[:at]))} | ({behind} & {len(text)})


class Kernel(transcript.Replayed):
    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.pairs = {theirs.text.split(" ", 2)[2]: (theirs, ours) for theirs, ours in self.replay("filters")}

    def test_same(self) -> None:
        deviations = {text for row in DEVIATIONS.values() for text in row}
        for text, (theirs, ours) in self.pairs.items():
            if text in deviations:
                continue
            with self.subTest(filter=text, line=theirs.line):
                if theirs.answers[0] == "ok":
                    self.assertEqual(ours.answers, theirs.answers)
                else:
                    self.mistakes(text, theirs, ours)

    def mistakes(self, text: str, theirs: Command, ours: Command) -> None:
        message = mistake(theirs)
        self.assertRegex(mistake(ours), f"^{re.escape(message)}(: .*)?$")
        behind = caret(theirs)
        assert behind is not None
        self.assertIn(caret(ours), first_byte(text.rstrip(), message, behind))

    def test_deviations(self) -> None:
        table = transcript.differences("Filters")
        for row, filters in DEVIATIONS.items():
            self.assertIn(f"\n| {row} | ", table)
            for text, instead in filters.items():
                with self.subTest(filter=text):
                    theirs, ours = self.pairs[text]
                    self.deviates(theirs, ours, instead)

    def deviates(self, theirs: Command, ours: Command, instead: str) -> None:
        self.assertNotEqual(ours.answers, theirs.answers)
        if instead.startswith("means "):
            self.assertEqual(ours.answers, self.pairs[instead[len("means "):]][0].answers)
        else:
            self.assertRegex(mistake(ours), f"^{re.escape(instead)}(: .*)?$")


if __name__ == "__main__":
    unittest.main()
