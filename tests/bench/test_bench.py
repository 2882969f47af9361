# SPDX-License-Identifier: MIT
"""The bench compiles and runs, in one round of few events. The times that it measures are not looked at."""

from __future__ import annotations

import importlib
import os
import re
import sys

from support import BUILD, ROOT, Case, need, read

sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
core = importlib.import_module("core")
runner = importlib.import_module("runner")


class Runs(Case):
    def test_all_tables(self) -> None:
        env = {k: v for k, v in os.environ.items() if k not in ("ROUNDS", "UPDATE")}
        done = self.succeed([sys.executable, "tests/bench/bench.py", BUILD, "quick"], env=env)
        self.assertEqual(done.stderr, "", "a program of the bench compiles with warnings")
        for heading in ("Record {u64, u32, char[16]}, two threads", "Print the same", "Data of the same"):
            self.assertIn(heading, done.stdout)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
        self.assertEqual(rows[0], core.HEADINGS)
        for row in rows[2:]:
            for column in ("tpgen", "load and branch"):
                figure = row[core.HEADINGS.index(column)]
                self.assertRegex(figure, "^–$" if "instructions" in row[0] else r"^-?\d", row)
        left_out = dict.fromkeys(re.findall(r"^.* is left out.*", done.stdout, re.M))
        if left_out:
            self.skipTest(" ".join(left_out))

    def test_instructions_are_counted(self) -> None:
        need(self, "valgrind")
        with runner.Bench(BUILD, quick=True) as bench:
            bench.counts = True
            bench.subject("nothing", "nothing.h")
            group = runner.Group(bench, "", "ns")
            row = group.row("ours", "", "nothing leaf 1")
            group.measure(15000, count=15000)
        self.assertGreater(row.instructions, 3)
        self.assertLess(row.instructions, 100)


class Report(Case):
    def test_saved_registers(self) -> None:
        """Those of the hot path count, others do not."""
        self.write("a.c", "int f(int x), g(int x);\n"
                   "int cold(int x) { if (__builtin_expect(x > 7, 0)) return f(x) + g(x); return x + 1; }\n"
                   "int hot(int x) { return g(x) + x; }\n")
        self.succeed(["gcc", "-O2", "-c", "a.c"], cwd=self.dir)
        self.assertEqual(core.saved(core.hot_path(self.path("a.o"), "cold")), 0)
        self.assertGreater(core.saved(core.hot_path(self.path("a.o"), "hot")), 0)

    def test_goals(self) -> None:
        def verdict(*args: object, **options: object) -> str:
            return str(core.line("", *args, **options)[3])

        self.assertEqual(verdict({"ours": 3.0}, 3), "met")
        self.assertEqual(verdict({"ours": 3.2}, 3), "missed")
        self.assertEqual(verdict({"ours": 3.2}), "")
        self.assertEqual(verdict({"ours": 3.0}, 0.4, "lttng"), "not known")
        self.assertEqual(verdict({"ours": 3.0, "lttng": 8.0}, 0.4, "lttng"), "met")
        self.assertEqual(verdict({"ours": 3.0, "lttng": 7.0}, 0.4, "lttng"), "missed")
        self.assertEqual(verdict({"ours": 1.94}, 1.95, least=True, digits=2), "missed")

    def test_update(self) -> None:
        document = read(core.PERFORMANCE)
        once = core.updated(document, "| a |\n")
        self.assertIn("| a |", once)
        self.assertEqual(core.updated(once, "| b |\n"), once.replace("| a |", "| b |"))
        self.assertEqual(once.partition("<!-- begin")[0], document.partition("<!-- begin")[0])
        self.assertEqual(once.partition("<!-- end")[2], document.partition("<!-- end")[2])
