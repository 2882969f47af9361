# SPDX-License-Identifier: MIT
"""docs/costs.svg: what is off, what is on and what is recorded, beside other ways to trace; figures of docs/performance.md."""

from __future__ import annotations

import os

from figures import rows
from runner import ROOT

PICTURE = os.path.join(ROOT, "docs/costs.svg")
# Of each block: its heading, and its bars: what they are called, and target, row and column of their figure.
BLOCKS = (
    ("A site that is off: ns", (
        ("tpgen", "bench-core", "off, 32 sites in a row: ns a site", "tpgen"),
        ("LTTng-UST", "bench-core", "off, 32 sites in a row: ns a site", "LTTng-UST"),
        ("SDT", "bench-core", "off, 32 sites in a row: ns a site", "SDT"))),
    ("A site that calls an empty probe: ns", (
        ("tpgen", "bench-core", "on, one empty probe: ns", "tpgen"),
        ("LTTng-UST", "bench-core", "on, one empty probe: ns", "LTTng-UST"))),
    ("An event that is recorded, printed or counted: ns", (
        ("tpgen, flight recorder", "bench-record", "flight recorder, warm: ns", "tpgen"),
        ("tpgen, stream", "bench-record", "stream, tmpfs: ns", "tpgen"),
        ("LTTng-UST", "bench-record", "flight recorder, warm: ns", "LTTng-UST"),
        ("fprintf to /dev/null", "bench-record", "flight recorder, warm: ns", "fprintf"),
        ("SDT, counted by bpftrace", "bench-sinks", "TP_SDT=1, bpftrace counts; beside sys/sdt.h: ns", "its own way"))),
)
SIZE = 760  # its width
LEFT, WIDEST, HIGH, STEP = 200, 470, 16, 24  # bars: where they begin, the longest, their height, from one to the next
STYLE = """
	text { font: 13px sans-serif; fill: #222 }
	.h { font-weight: bold }
	.label { text-anchor: end }
	.back { fill: #fff; stroke: #ccc }
	.ours { fill: #2a6fbb }
	.other { fill: #9a9a9a }
	@media (prefers-color-scheme: dark) {
		text { fill: #e6e6e6 }
		.back { fill: #16191d; stroke: #444 }
		.ours { fill: #5b9fe8 }
		.other { fill: #858585 }
	}
"""


def picture(document: str) -> str:
    """Of docs/performance.md. The longest bar of each block has the same length."""
    parts, down = [], 34
    for heading, bars in BLOCKS:
        found = [(label, figure) for label, target, name, column in bars
                 for figure in [row.get(column, "–") for row in rows(document, target) if row[""] == name] if figure != "–"]
        longest = max((float(figure) for _, figure in found), default=1)
        parts.append(f'<text class="h" x="20" y="{down}">{heading}</text>\n')
        for label, figure in found:
            down += STEP
            long = WIDEST * float(figure) / longest
            parts.append(f'<text class="label" x="{LEFT - 10}" y="{down}">{label}</text>'
                         f'<rect class="{"ours" if label.startswith("tpgen") else "other"}" x="{LEFT}" y="{down - 13}" '
                         f'width="{long:.1f}" height="{HIGH}"/>'
                         f'<text x="{LEFT + long + 8:.1f}" y="{down}">{figure}</text>\n')
        down += 40
    high = down - 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {high}" role="img" aria-labelledby="title">\n'
        '<title id="title">What a site costs while it is off, while it is on, and what an event costs, beside other ways to '
        f'trace</title>\n<style>{STYLE}</style>\n'
        f'<rect class="back" x="0.5" y="0.5" width="{SIZE - 1}" height="{high - 1}" rx="8"/>\n' + "".join(parts) + "</svg>\n")
