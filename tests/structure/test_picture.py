# SPDX-License-Identifier: MIT
"""docs/layers.svg has each stage of tpgen and each folder of the runtime, and none above what uses it."""

from __future__ import annotations

import os
import re
import sys
import unittest
from xml.etree import ElementTree

from support import ROOT

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_imports import ORDER, stages  # noqa: E402
from test_layers import LAYERS  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"

# The width of a character in ems: that of DejaVu, which is wider than most fonts. Of sans-serif it is an average.
MONOSPACE, SANS = 0.61, 0.56


def width(text: ElementTree.Element) -> float:
    """How wide a text of docs/layers.svg becomes, in its units."""
    def part(element: ElementTree.Element, words: str | None) -> float:
        classes = element.get("class", "").split()
        em = 16 if "h" in classes else 12 if "s" in classes else 13
        return len(words or "") * em * (MONOSPACE if "n" in classes else SANS)
    return part(text, text.text) + sum(part(each, each.text) + part(text, each.tail) for each in text)


def tops() -> dict[str, float]:
    """For each file and folder that the picture names, where its box begins: the distance from the top."""
    found: dict[str, float] = {}
    top = 0.0
    for element in ElementTree.parse(os.path.join(ROOT, "docs/layers.svg")).iter():
        if element.tag == f"{SVG}rect":
            top = float(element.get("y", "0"))
        elif element.tag == f"{SVG}text":
            for name in re.findall(r"\w+(?:\.py|/)(?=[\s:]|$)", "".join(element.itertext())):
                found[name] = top
    return found


class Picture(unittest.TestCase):
    def test_stages(self) -> None:
        """A stage may use others of its box, and boxes further down."""
        top = tops()
        places = {stage: top.get(f"{stage}.py", top.get(f"{stage}/", 0.0)) for stage in ORDER}
        self.assertNotIn(0.0, places.values(), places)
        for stage in ORDER:
            for name in stages()[stage]:
                used = name.split(".")[1] if name.startswith("tpgen.") else ""
                if used in places:
                    self.assertGreaterEqual(places[used], places[stage], f"{stage} imports {used}")

    def test_folders(self) -> None:
        top = {name.removesuffix("/"): at for name, at in tops().items()}
        for folder, below in LAYERS.items():
            for used in below:
                self.assertGreater(top[os.path.basename(used)], top[os.path.basename(folder)], f"{folder} uses {used}")

    def test_widths(self) -> None:
        """A text is no wider than the smallest box around the point where it stands."""
        boxes: list[tuple[float, ...]] = []
        for element in ElementTree.parse(os.path.join(ROOT, "docs/layers.svg")).iter():
            if element.tag == f"{SVG}rect":
                boxes.append(tuple(float(element.get(name, "0")) for name in ("x", "y", "width", "height")))
            elif element.tag == f"{SVG}text" and not element.get("transform"):
                at, down, wide = float(element.get("x", "0")), float(element.get("y", "0")), width(element)
                left = at if "left" in element.get("class", "").split() else at - wide / 2
                box = min((b for b in boxes if b[0] <= at <= b[0] + b[2] and b[1] <= down <= b[1] + b[3]),
                          key=lambda b: b[2] * b[3])
                with self.subTest("".join(element.itertext())):
                    self.assertGreaterEqual(left, box[0], "begins left of its box")
                    self.assertLessEqual(left + wide, box[0] + box[2], "ends right of its box")
