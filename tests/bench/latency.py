# SPDX-License-Identifier: MIT
"""How long each single event took: a line of text for each way to trace, and the picture of docs/performance.md."""

from __future__ import annotations

import math
import os
from collections import Counter

from goals import Way
from runner import ROOT, Bench, Row

PICTURE = os.path.join(ROOT, "docs/latency.svg")
EVENTS = 1000000  # of a round
FIRST, LAST = 4, 22  # of the text's columns: powers of two, in ns
DECADES = (1, 7)  # of the picture: from 10 ns to 10 ms
COLOURS = ("#888", "#2a6fbb", "#3a9a4b", "#c77f1e", "#b5383f")
Distribution = Counter[int]  # events, by the least ns of those that are counted together


def measure(bench: Bench, ways: dict[str, Way]) -> dict[str, Distribution]:
    """Of all rounds together, by the label of the way."""
    rows = [Row(way.kind, way.label, f"{way.program} histogram 1 {way.arguments}".split(), way.environment)
            for way in ways.values()]
    found: dict[str, Distribution] = {row.label: Counter() for row in rows}
    for _ in range(bench.rounds):
        for row in rows:
            *lines, _ = bench.hit(row, EVENTS // 1000 if bench.quick else EVENTS).stdout.splitlines()
            for line in lines:
                least, events = map(int, line.split())
                found[row.label][least] += events
    return found


def text(found: dict[str, Distribution]) -> str:
    """Of a million events, how many took that long: the number of its digits, for each doubling of the time."""
    columns = range(FIRST, LAST + 1)
    width = max(map(len, found))
    heads = "".join(f"{duration(2 ** column):<9}" for column in columns[::3]).rstrip()
    lines = [f"{'':{width}}  {heads}"]
    for label, events in found.items():
        octaves: Counter[int] = Counter()
        for least, number in events.items():
            octaves[min(max(least.bit_length() - 1, FIRST), LAST)] += number
        shares = (math.ceil(octaves[column] * 1e6 / events.total()) for column in columns)
        lines.append(f"{label:{width}}  " + "  ".join(str(len(str(share))) if share else "." for share in shares))
    return "```text\n" + "\n".join(lines) + "\n```"


def duration(ns: float) -> str:
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


# ---- The picture ----

LEFT, TOP, WIDTH, HEIGHT = 110, 50, 600, 330


def picture(found: dict[str, Distribution]) -> str:
    """For each time, the share of the events that took as long or longer; both axes are logarithmic."""
    parts = [axes()]
    for (label, events), colour, i in zip(found.items(), COLOURS, range(len(found))):
        parts.append(f'<path d="{line(events)}" style="stroke:{colour}"/>\n'
                     f'<rect x="{LEFT + WIDTH + 20}" y="{TOP + 24 * i}" width="14" height="4" style="fill:{colour}"/>'
                     f'<text x="{LEFT + WIDTH + 42}" y="{TOP + 6 + 24 * i}">{label}</text>\n')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {TOP + HEIGHT + 60}" role="img" '
        'aria-labelledby="title">\n'
        '<title id="title">The share of events that took a time or longer, for each way to trace</title>\n'
        '<style>\n\ttext { font: 13px sans-serif; fill: #222 }\n\t.x { text-anchor: middle }\n\t.y { text-anchor: end }\n'
        '\tpath { fill: none; stroke-width: 2 }\n\tpath.grid { stroke: #ddd; stroke-width: 1 }\n</style>\n'
        f'<rect width="960" height="{TOP + HEIGHT + 60}" style="fill:#fff;stroke:#ccc" rx="8"/>\n' +
        "".join(parts) + "</svg>\n")


def axes() -> str:
    first, last = DECADES
    parts = [f'<text x="{LEFT - 10}" y="24" class="y">of all events</text>\n']
    for decade in range(first, last + 1):
        at = x(10 ** decade)
        parts.append(f'<path class="grid" d="M{at:.0f} {TOP}v{HEIGHT}"/><text class="x" x="{at:.0f}" '
                     f'y="{TOP + HEIGHT + 20}">{duration(10 ** decade)}</text>\n')
    for decade in range(7):
        at = y(10.0 ** -decade)
        name = f"1 in {10 ** decade:,}" if decade else "all"
        parts.append(f'<path class="grid" d="M{LEFT} {at:.0f}h{WIDTH}"/><text class="y" x="{LEFT - 10}" '
                     f'y="{at + 4:.0f}">{name}</text>\n')
    parts.append(f'<text class="x" x="{LEFT + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 44}">took this time or longer</text>\n')
    return "".join(parts)


def line(events: Distribution) -> str:
    left = total = events.total()
    path = f"M{LEFT} {TOP}"
    for least in sorted(events):
        path += f"H{x(least):.1f}V{y(left / total):.1f}"
        left -= events[least]
    return path + f"V{TOP + HEIGHT}"


def x(ns: float) -> float:
    first, last = DECADES
    return LEFT + WIDTH * min(max((math.log10(ns) - first) / (last - first), 0), 1)


def y(share: float) -> float:
    return TOP + HEIGHT * min(-math.log10(share) / 6, 1)
