# SPDX-License-Identifier: MIT
"""The pages with figures: the bench's tables, and docs/performance.md, which has some of their rows and columns."""

from __future__ import annotations

import os
import re

from runner import ROOT

TABLES = os.path.join(ROOT, "docs/internals/bench-tables.md")
PERFORMANCE = os.path.join(ROOT, "docs/performance.md")
Rows = list[dict[str, str]]  # cells, by the names of their columns; the first column's is ""

# What docs/performance.md has of each table. A row that begins with "…" is the first such one after the row before.
SELECTED = {
    "bench-core": (("tpgen", "LTTng-UST", "SDT", "flag"), (
        "off, 32 sites in a row: ns a site", "… instructions a site", "off, in a leaf function: more instructions",
        "bytes a site: hot", "on, one empty probe: ns", "switch on one site: µs")),
    "bench-record": (("tpgen", "LTTng-UST", "fprintf", "counter"), (
        "flight recorder, warm: ns", "… instructions", "stream, tmpfs: ns",
        "flight recorder, two threads: throughput over one", "stream, tmpfs, two threads: throughput over one",
        "16 fields, flight recorder: ns")),
    "bench-sinks": (("tpgen", "its own way"), (
        "text, to a file on tmpfs; beside fprintf: ns", "LTTng, snapshot mode; beside a native provider: ns",
        "ftrace; beside snprintf and a write to trace_marker: ns", "statistics: ns",
        "a hit of a histogram: one key: ns", "latency of a pair, by a field; beside bpftrace's map on two USDT probes: ns", "TP_SDT=1, bpftrace counts; beside sys/sdt.h: ns",
        "CTF, an event that a filter refuses; beside LTTng-UST's with the same filter: ns")),
    "bench-start": (("tpgen", "LTTng-UST"), (
        "start with 1 tracepoint: ms more than without", "start with 10,000 tracepoints: ms more than without",
        "1,000 tracepoints, nothing enabled: KiB of its own", "a thread, flight recorder, its ring full: KiB",
        "a site: bytes of code and tables")),
    "bench-control": (("tpgen",), ("enable 1,000 events, until the answer: µs",)),
    "bench-read": (("tpgen", "babeltrace2", "a quarter"), (
        "tp report: million events a second", "tp convert --to json", "tp convert --to parquet",
        "tp report: MiB", "tp convert --to parquet: MiB")),
}


def rows(document: str, target: str) -> Rows:
    """Those of the table between this target's marks."""
    text = re.split(rf'<!-- begin: "make {target} .*-->\n', document, maxsplit=1)[1].partition("<!-- end -->")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [dict(zip(lines[0], line)) for line in lines[2:]]


def updated(document: str, target: str, text: str) -> str:
    """The document with the text between the marks of this target."""
    before, begin, rest = re.split(rf'(<!-- begin: "make {target} .*-->\n)', document, maxsplit=1)
    return f"{before}{begin}\n{text}\n{''.join(rest.partition('<!-- end -->')[1:])}"


def aligned(lines: list[list[str]], right: set[int]) -> str:
    """A table whose columns are as wide as their widest cell."""
    columns = [(">" if i in right else "<", max(map(len, column))) for i, column in enumerate(zip(*lines))]
    dashes = ["-" * (width - (side == ">")) + ":" * (side == ">") for side, width in columns]
    cells = [[f"{cell:{side}{width}}" for cell, (side, width) in zip(line, columns)] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in (cells[0], dashes, *cells[1:]))


def selected(tables: str, target: str) -> str:
    """The rows of docs/performance.md, as a table."""
    columns, names = SELECTED[target]
    lines, left = [["", *columns]], iter(rows(tables, target))
    for name in names:
        if not name.startswith("…"):
            left = iter(rows(tables, target))
        row = next((row for row in left if row[""] == name), None)
        if row:  # else it is that of a peer that was not installed
            lines.append([name, *(row.get(column, "–") for column in columns)])
    return aligned(lines, set(range(1, len(columns) + 1)))


def performance(document: str, tables: str) -> str:
    """docs/performance.md, with the rows as the tables have them."""
    for target in SELECTED:
        document = updated(document, target, selected(tables, target) + "\n")
    return document
