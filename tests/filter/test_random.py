# SPDX-License-Identifier: MIT
"""Random filters over random records mean what a naive evaluator, and libtraceevent, say; libtracefs takes them for filters.

SEED=N begins elsewhere, FILTERS=N takes so many:

    SEED=7 FILTERS=100000 python3 tests/run.py filter/test_random
"""

from __future__ import annotations

import functools
import os
import random
import re
import shutil
import subprocess
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from building import build, generate, sanitize  # noqa: E402
from expressions import Record, pack, random_expression, random_record  # noqa: E402
from support import BUILD, PATIENCE, ROOT, RUNTIME_SOURCES, Case, both, few_or_many, temporary, unavailable  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
FILTERS = few_or_many(1000, 4000, "FILTERS")
RECORDS = 40


@functools.cache
def driver(sanitizer: str) -> str:
    path = temporary()
    generate(path, os.path.join(HERE, "fields.tp"))
    # As the unit tests, it uses functions that libtp.so does not export.
    flags = ["-iquote", os.path.join(ROOT, "runtime/src"), *sanitize(sanitizer)]
    built = [os.path.join(BUILD, sanitizer, os.path.relpath(path, ROOT)) for path in RUNTIME_SOURCES if sanitizer]
    objects = [f"{os.path.splitext(path)[0]}.o" for path in built]
    return build(os.path.join(path, "driver"), os.path.join(HERE, "driver.c"), os.path.join(HERE, "others.c"), include=[path],
                 flags=flags, **({"libtp": "", "link": [*objects, "-lurcu-bp", "-lpthread", "-ldl"]} if objects else {}))


class Filters(Case):
    sanitizer = ""

    def setUp(self) -> None:
        super().setUp()
        event_format = self.ask(["format"])
        self.rng = random.Random(SEED)
        self.records: list[Record] = [random_record(self.rng) for _ in range(RECORDS)]
        self.given = ["record " + pack(record, event_format).hex() for record in self.records]

    def ask(self, lines: list[str]) -> str:
        done = subprocess.run([driver(self.sanitizer)], input="\n".join(lines) + "\n", capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def answers(self, how: str, texts: list[str]) -> list[str]:
        return self.ask([*self.given, *(f"{how} {text}" for text in texts)]).splitlines()


@both
class Random(Filters):
    def test_naive_evaluator(self) -> None:
        trees = [random_expression(self.rng) for _ in range(FILTERS)]
        texts = [tree.text(self.rng) for tree in trees]
        answers = self.answers("filter", texts)
        self.assertEqual(len(answers), FILTERS)
        for tree, text, answer in zip(trees, texts, answers):
            self.assertEqual(answer, "".join("01"[tree.holds(record)] for record in self.records), text)

    def test_hit(self) -> None:
        """Where events are hit: fields are computed early, and the filter is evaluated before there is a record."""
        trees = [random_expression(self.rng) for _ in range(FILTERS)]
        texts = [tree.text(self.rng) for tree in trees]
        # Of a record that is made here, a set of processors is as long as the machine has, and common_pid is the driver's.
        chosen = [(tree, text) for tree, text in zip(trees, texts) if not re.search(r"cpus|common_pid", text)]
        answers = self.answers("hit", [text for _, text in chosen])
        self.assertGreater(len(chosen), FILTERS // 4)
        for (tree, text), answer in zip(chosen, answers, strict=True):
            self.assertEqual(answer, "".join("01"[tree.holds(record)] for record in self.records), text)

    def test_libtraceevent(self) -> None:
        texts = [random_expression(self.rng, common=True).text(self.rng) for _ in range(FILTERS // 4)]
        theirs = self.answers("tep", texts)
        if "none" in theirs:
            unavailable(self, "libtraceevent is not installed")
        differ = [(text, mine, other) for text, mine, other in zip(texts, self.answers("filter", texts), theirs) if mine != other]
        self.assertEqual(differ, [])

    def test_libtracefs(self) -> None:
        texts = [random_expression(self.rng, common=True).text(self.rng) for _ in range(FILTERS // 8)]
        theirs = self.answers("verify", texts)
        if "none" in theirs:
            unavailable(self, "libtracefs is not installed")
        self.assertEqual([text for text, answer in zip(texts, theirs) if answer != "0"], [])


class Locale(Filters):
    def test_comma(self) -> None:
        """The program's locale has a comma in decimal numbers."""
        locales = temporary()
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(locales, "de_DE.UTF-8")], capture_output=True,
                              check=False) if shutil.which("localedef") else None
        if not os.path.exists(os.path.join(locales, "de_DE.UTF-8")):
            unavailable(self, f"localedef has made no locale: {made and made.stderr!r}")
        expected = self.answers("filter", ["real > 0.1", "single == 0.1", "real < 1,5"])
        with mock.patch.dict(os.environ, {"LOCPATH": locales, "LC_ALL": "de_DE.UTF-8"}):
            self.assertEqual(self.answers("filter", ["real > 0.1", "single == 0.1", "real < 1,5"]), expected)


@both
class Broken(Filters):
    """Texts that are nearly filters, or none: an answer, and no memory that is not the filter's or the record's."""

    sanitizer = "asan"

    def broken(self, text: str) -> str:
        for _ in range(self.rng.randrange(1, 4)):
            at = self.rng.randrange(len(text) + 1)
            kind = self.rng.randrange(4)
            some = self.rng.choice(["(", ")", "!", "&&", "||", "&", "|", "'", '"', "CPUS{", "}", "-", "~", "=", ".function", ".ustring",
                                    "\x01", "\xff", "0x", "99999999999999999999", "[", "\\", "text", "cpu", "comm", "common_type", " ", ".", "e", "1e9",
                                    "inf", "nan", "real", "1.5"])
            text = (text[:at] + some + text[at:], text[:at], text[:at] + text[at + 1:], text + text[at:])[kind]
        return text.replace("\n", " ")[:60000]

    def test_no_crash(self) -> None:
        texts = [self.broken(random_expression(self.rng).text(self.rng)) for _ in range(FILTERS)]
        texts += ["(" * 60000, "!" * 60000, "u8==1||" * 8000, "text~'" + "*a" * 120 + "'", "x" * 65000, "CPUS{" * 9000]
        answers = self.answers("filter", texts)
        self.assertEqual(len(answers), len(texts))
        for text, answer in zip(texts, answers):
            match = re.fullmatch(r"[01]{%d}|error (\d+) (.*)" % RECORDS, answer)
            assert match, (text, answer)
            if match[1]:
                self.assertLessEqual(int(match[1]), len(text.encode()), text)
                self.assertTrue(match[2], text)


if __name__ == "__main__":
    unittest.main()
