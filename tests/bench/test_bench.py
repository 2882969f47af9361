# SPDX-License-Identifier: MIT
"""The bench compiles and runs, in one round of few events. The times that it measures are not looked at."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections import Counter
from xml.etree import ElementTree

from support import BUILD, ROOT, Case, need, read, unavailable

CHECK_ALL = "all tables of the bench"

sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
core = importlib.import_module("core")
figures = importlib.import_module("figures")
goals = importlib.import_module("goals")
latency = importlib.import_module("latency")
record = importlib.import_module("record")
runner = importlib.import_module("runner")
start = importlib.import_module("start")


class Runs(Case):
    def test_all_tables(self) -> None:
        env = {k: v for k, v in os.environ.items() if k not in ("ROUNDS", "UPDATE")}
        done = self.succeed([sys.executable, "tests/bench/bench.py", BUILD, "quick"], env=env)
        self.assertEqual(done.stderr, "", "a program of the bench compiles with warnings")
        for heading in ("Record {u64, u32, char[16]}, one thread", "Print {u64", "Data of the same"):
            self.assertIn(heading, done.stdout)
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if "|" in line]
        headings = [row for row in rows if row[0] == ""]
        self.assertEqual([row[-1] for row in headings], ["nothing", "nothing", "its own way", "LTTng-UST", "tpgen", "a quarter"],
                         "the core's table, recording's, that of the sinks, that of the start, that of control, and that of reading")
        for row in rows:
            if row[0] == "":
                ours = row.index("tpgen")
            elif not row[0].startswith("--"):
                self.assertRegex(row[ours], "^–$" if "instructions" in row[0] else r"^-?\d", row)
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

    def test_the_start_describes_no_events(self) -> None:
        """To copy an event's layout takes 10,000 instructions and more; an event that is alone needs no copy."""
        need(self, "valgrind")
        with runner.Bench(BUILD, quick=True) as bench:
            counted = {}
            for size, part in ((1, "one"), (100, "many")):
                start.our_part(bench, part, size)
                start.our_program(bench, f"start-{part}", [part])
                try:
                    counted[size] = start.instructions(bench, f"start-{part}")
                except SystemExit as error:
                    if "unhandled dwarf2 abbrev form" not in str(error):
                        raise
                    unavailable(self, "this valgrind can't read the debugging information of a runtime made by this compiler")
        self.assertLess((counted[100] - counted[1]) / 99, 5000)


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
            return str(goals.Table("", core.NAMES, "", {}).line("", *args, **options)[3])

        self.assertEqual(verdict({"ours": 3.0}, 3), "met")
        self.assertEqual(verdict({"ours": 3.2}, 3), "missed")
        self.assertEqual(verdict({"ours": 3.2}), "")
        self.assertEqual(verdict({"ours": 3.0}, 0.4, "lttng"), "not known")
        self.assertEqual(verdict({"ours": 3.0, "lttng": 8.0}, 0.4, "lttng"), "met")
        self.assertEqual(verdict({"ours": 3.0, "lttng": 7.0}, 0.4, "lttng"), "missed")
        self.assertEqual(verdict({"ours": 1.94}, 1.95, least=True, digits=2), "missed")
        self.assertEqual(verdict({"ours": 1.85, "flag": 1.89}, 0.975, "flag", least=True), "met")
        self.assertEqual(verdict({"ours": 1.85, "flag": 2.0}, 0.975, "flag", least=True), "missed")
        self.assertEqual(verdict({"ours": 3.0, "lttng": 7.0}, 0.1, "lttng", or_most=5), "met")
        self.assertEqual(verdict({"ours": 6.0, "lttng": 70.0}, 0.1, "lttng", or_most=5), "met")
        self.assertEqual(verdict({"ours": 6.0, "lttng": 7.0}, 0.1, "lttng", or_most=5), "missed")
        self.assertEqual(verdict({"ours": 6.0}, 0.1, "lttng", or_most=5), "not known")
        self.assertEqual(verdict({"ours": 6.0, "lttng": -3.0}, 0.1, "lttng", or_most=5), "not known")

    def test_what_has_lost_events_does_not_count(self) -> None:
        with runner.Bench(BUILD, quick=True) as bench:
            measured = record.Recorded(bench)
        figures = {"snapshot": 104.0, "discard": 90.0}
        self.assertEqual(measured.better("one", figures)["lttng"], 90)
        measured.lost["one"] = 3
        self.assertEqual(measured.better("one", figures)["lttng"], 104)

    def test_latency(self) -> None:
        """Digits of counts, and a line that goes down to the longest."""
        events = Counter({14: 899990, 100: 100000, 1024: 9, 1 << 30: 1})
        self.assertEqual(latency.text({"tpgen": events}).splitlines()[2],
                         "tpgen  6  .  6  .  .  .  1" + "  ." * 11 + "  1")
        picture = ElementTree.fromstring(latency.picture({"nothing": Counter({20: 1}), "tpgen": events}))
        lines = [path.get("d") for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("style")]
        self.assertEqual(len(lines), 2)
        heights = [float(height) for height in re.findall(r"V([\d.]+)", lines[1])]
        self.assertEqual(heights, sorted(heights))
        self.assertEqual((heights[0], heights[-1]), (latency.TOP, latency.TOP + latency.HEIGHT))

    def test_update(self) -> None:
        document = read(goals.TABLES)
        for target in figures.SELECTED:
            before, mark, after = document.partition(f'<!-- begin: "make {target} ')
            once = goals.updated(document, target, "| a |\n")
            self.assertIn("| a |", once)
            self.assertEqual(goals.updated(once, target, "| b |\n"), once.replace("| a |", "| b |"))
            self.assertEqual(once.partition(mark)[0], before)
            self.assertEqual(once.partition(mark)[2].partition("<!-- end")[2], after.partition("<!-- end")[2])
