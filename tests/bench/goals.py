# SPDX-License-Identifier: MIT
"""Groups by name, and what is made of them: a table with goals, for the documents, too."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from fractions import Fraction

import costs
from figures import PERFORMANCE, TABLES, aligned, performance, updated
from runner import ROOT, Bench, Group, Row, machine, text_of

Figures = dict[str, float | None]  # of each way to trace, by its name; tpgen's is "ours", the table's peer "lttng"


@dataclass
class Way:
    """One way to trace: its program, with what follows the shape and the number of threads on its command line."""

    kind: str
    label: str
    program: str
    arguments: str = ""
    environment: dict[str, str] = field(default_factory=dict)


class Measured:
    """Groups, with a row for each of the ways that they were given."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.rows: dict[str, dict[str, Row]] = {}
        self.groups: dict[str, Group] = {}

    def group(self, key: str, heading: str, shape: str, ways: dict[str, Way], unit: str = "ns") -> Group:
        """Its rows, which run this shape (with the number of threads)."""
        group = self.groups[key] = Group(self.bench, heading, unit)
        self.rows[key] = {name: group.row(way.kind, way.label, f"{way.program} {shape} {way.arguments}",
                                          **way.environment) for name, way in ways.items()}
        return group

    def results(self, key: str) -> Figures:
        """In the group's unit; of nothing at all, what the others are above."""
        return {name: self.groups[key].result(row) for name, row in self.rows[key].items()}

    def base(self, key: str) -> float:
        return next(row.median for row in self.rows[key].values() if row.kind == "base")

    def scaled(self, key: str, by: float) -> Figures:
        return {name: row.median / by for name, row in self.rows[key].items()}

    def instructions(self, key: str) -> Figures:
        return {name: self.groups[key].counted(row) for name, row in self.rows[key].items()}


class Table:
    """The goals, and how far they are met. Its columns are ways to trace, between which it says what the goal is."""

    def __init__(self, target: str, names: dict[str, str], ratio: str, columns: dict[str, str]) -> None:
        self.target = target  # of make
        self.names = names    # of the ways that goals are relative to
        self.columns = columns
        self.notes: list[str] = []
        self.pictures: dict[str, str] = {}  # by their files, which are written together with the table
        self.rows = [["", "goal", "tpgen", "met?", ratio, *columns.values()]]

    def line(self, what: str, figures: Figures, goal: float | Fraction | None = None, of: str = "",
             least: bool = False, digits: int = 1, or_most: float | None = None) -> list[str]:
        """
        Adds a row. The goal is a bound, from above if not the least; or, with of, one on the ratio to that way,
        in whose place a bound on the figure itself may be met.
        """
        shown = {name: None if value is None else round(value, digits) for name, value in figures.items()}
        ours, peer = figures.get("ours"), figures.get(of or "lttng")
        # A difference to a base may be below 0 where a machine is too noisy: that tells nothing.
        ratio = ours / peer if ours is not None and peer and peer > 0 and (of or not least) else None
        held = ratio if of else shown.get("ours")
        met = held is not None and goal is not None and (held >= goal if least else held <= goal)
        if or_most is not None and ours is not None:
            met = met or ours <= or_most
        verdict = "" if goal is None else "met" if met else "not known" if held is None else "missed"
        bound = "" if goal is None else f"{'≥' if least else '≤'} {goal}{of and ' × ' + self.names[of]}"
        if or_most is not None:
            bound += f", or ≤ {or_most}"

        def cell(name: str) -> str:
            value = shown.get(name)
            return "–" if value is None else f"{value:.{digits}f}"

        compared = "–" if ratio is None else f"{ratio:.2f}"
        self.rows.append([what, bound, cell("ours"), verdict, compared if self.rows[0][4] else "",
                          *map(cell, self.columns)])
        return self.rows[-1]

    def text(self) -> str:
        """Columns in which there is nothing are left out."""
        kept = [i for i, column in enumerate(zip(*self.rows)) if any(column[1:])]
        right = {at for at, i in enumerate(kept) if i == 2 or i >= 4}
        return aligned([[row[i] for i in kept] for row in self.rows], right)

    def report(self, bench: Bench, update: bool) -> None:
        """Prints it; if asked, the pages and pictures of docs/ get it."""
        sites = "static keys" if "tp_sites" in text_of(["readelf", "-SW", bench.path("ours")]) else "load and branch"
        text = (f"{machine(bench.compiler[0])}; medians of {bench.rounds} rounds; tpgen's sites: {sites}.\n" +
                "".join(f"{note}\n" for note in [*bench.absent, *self.notes]) + f"\n{self.text()}\n")
        print(f"\n{text}", end="")
        if not update:
            return
        tables = updated(read(TABLES), self.target, text)
        page = performance(read(PERFORMANCE), tables)
        for path, content in ((TABLES, tables), (PERFORMANCE, page), (costs.PICTURE, costs.picture(page)),
                              *self.pictures.items()):
            with open(path, "w", encoding="utf-8") as file:
                file.write(content)
            print(f"{os.path.relpath(path, ROOT)} has it now.")


def read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
