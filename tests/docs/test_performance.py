# SPDX-License-Identifier: MIT
"""docs/performance.md and docs/costs.svg have the figures of docs/internals/bench-tables.md."""

from __future__ import annotations

import importlib
import os
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from types import SimpleNamespace
from unittest import mock
from xml.etree import ElementTree

from support import ROOT, Case, need, read

sys.path.insert(0, os.path.join(ROOT, "tests/bench"))
costs = importlib.import_module("costs")
figures = importlib.import_module("figures")
goals = importlib.import_module("goals")
SVG = "{http://www.w3.org/2000/svg}"
SANS = 0.56 * 13  # the width of a character


class Performance(Case):
    def setUp(self) -> None:
        super().setUp()
        self.page, self.tables = read(figures.PERFORMANCE), read(figures.TABLES)

    def test_rows(self) -> None:
        self.assertEqual(figures.performance(self.page, self.tables), self.page,
                         "not the figures of docs/internals/bench-tables.md")

    def test_selected(self) -> None:
        """Each row and each column that the page shall have is in the tables."""
        for target, (columns, names) in figures.SELECTED.items():
            shown = figures.rows(self.page, target)
            self.assertEqual([row[""] for row in shown], list(names))
            for column in columns:
                self.assertTrue(any(row[column] != "–" for row in shown), f"{target}: nothing in column {column}")

    def test_another_figure_is_noticed(self) -> None:
        """The test's own."""
        changed = self.tables.replace("| 0.061 |", "| 0.062 |")
        self.assertNotEqual(changed, self.tables)
        page = figures.performance(self.page, changed)
        self.assertNotEqual(page, self.page)
        self.assertNotEqual(costs.picture(page), read(costs.PICTURE))

    def test_picture(self) -> None:
        self.assertEqual(costs.picture(self.page), read(costs.PICTURE), "not the figures of docs/performance.md")

    def test_bars(self) -> None:
        """Each bar is as long as its figure says, beside the longest of its block; figures are the page's."""
        parts = list(ElementTree.fromstring(read(costs.PICTURE)))
        blocks: list[list[tuple[float, float]]] = []
        long = 0.0
        for part in parts:
            if part.get("class") == "h":
                blocks.append([])
            elif part.get("class") in ("ours", "other"):
                long = float(part.get("width", "0"))
            elif part.tag == f"{SVG}text" and part.get("class") is None:
                blocks[-1].append((float(part.text or ""), long))
        self.assertEqual([len(block) for block in blocks], [len(bars) for _, bars in costs.BLOCKS])
        cells = {float(cell) for cell in re.findall(r"(?<=\| )[ \d.]+(?= \|)", self.page) if cell.strip()}
        for block in blocks:
            longest = max(figure for figure, _ in block)
            for figure, long in block:
                self.assertIn(figure, cells)
                self.assertAlmostEqual(long, costs.WIDEST * figure / longest, delta=0.1)

    def test_texts_fit(self) -> None:
        for text in ElementTree.fromstring(read(costs.PICTURE)).iter(f"{SVG}text"):
            wide, at = len(text.text or "") * SANS, float(text.get("x", "0"))
            left = at - wide if text.get("class") == "label" else at
            with self.subTest(text.text):
                self.assertGreaterEqual(left, 0)
                self.assertLessEqual(left + wide, costs.SIZE)

    def test_update(self) -> None:
        """With UPDATE=1 the bench writes a table, its rows of docs/performance.md, and the bars."""
        need(self, "readelf", "gcc")
        paths = {name: self.write(os.path.basename(path), read(path)) for name, path in (
            ("TABLES", figures.TABLES), ("PERFORMANCE", figures.PERFORMANCE), ("PICTURE", costs.PICTURE))}
        table = goals.Table("bench-core", {}, "", {"lttng": "LTTng-UST"})
        table.line("off, 32 sites in a row: ns a site", {"ours": 1.25, "lttng": 2.5}, digits=2)
        bench = SimpleNamespace(compiler=["gcc"], rounds=9, absent=[], path=lambda name: sys.executable)
        with mock.patch.multiple(goals, TABLES=paths["TABLES"], PERFORMANCE=paths["PERFORMANCE"]), \
                mock.patch.object(costs, "PICTURE", paths["PICTURE"]), redirect_stdout(StringIO()):
            table.report(bench, True)
        page = read(paths["PERFORMANCE"])
        row = {"": "off, 32 sites in a row: ns a site", "tpgen": "1.25", "LTTng-UST": "2.50"}
        self.assertEqual(figures.rows(read(paths["TABLES"]), "bench-core"), [row])
        self.assertEqual(figures.rows(page, "bench-core"), [{**row, "SDT": "–", "flag": "–"}])
        self.assertEqual(figures.rows(page, "bench-record"), figures.rows(self.page, "bench-record"))
        self.assertEqual(re.findall(r">([\d.]+)</text>", read(paths["PICTURE"]))[:2], ["1.25", "2.50"])
