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

# Between a text and its box there is that much room, for fonts that are wider. Half of an arrow's head is as wide.
MARGIN = 5
HEAD = 10


def height(element: ElementTree.Element) -> int:
    """Of the font, in the picture's units."""
    classes = element.get("class", "").split()
    return 16 if "h" in classes else 12 if "s" in classes else 13


def width(text: ElementTree.Element) -> float:
    """How wide a text of docs/layers.svg becomes, in its units."""
    def part(element: ElementTree.Element, words: str | None) -> float:
        return len(words or "") * height(element) * (MONOSPACE if "n" in element.get("class", "").split() else SANS)
    return part(text, text.text) + sum(part(each, each.text) + part(text, each.tail) for each in text)


def place(text: ElementTree.Element) -> tuple[float, ...]:
    """The rectangle that a text takes: left, top, right, bottom."""
    wide, high = width(text), height(text)
    turned = re.match(r"translate\(([\d.]+) ([\d.]+)\) rotate\(-90\)", text.get("transform", ""))
    if turned:
        x, y = float(turned[1]), float(turned[2])
        return x - high, y - wide / 2, x + high / 4, y + wide / 2
    x, y = float(text.get("x", "0")), float(text.get("y", "0"))
    left = x if "left" in text.get("class", "").split() else x - wide / 2
    return left, y - high, left + wide, y + high / 4


def lines(path: str) -> list[tuple[float, ...]]:
    """The straight lines of an arrow, as places are."""
    found = []
    x = y = 0.0
    for step, *numbers in re.findall(r"([MhvHV]) ?(-?[\d.]+)(?: (-?[\d.]+))?", path):
        n = [float(number) for number in numbers if number]
        to = {"M": n, "h": [x + n[0], y], "v": [x, y + n[0]], "H": [n[0], y], "V": [x, n[0]]}[step]
        if step != "M":
            found.append((min(x, to[0]), min(y, to[1]), max(x, to[0]), max(y, to[1])))
        x, y = to
    return found


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
        """A text fits into the smallest box around the point where it stands."""
        boxes: list[tuple[float, ...]] = []
        for element in ElementTree.parse(os.path.join(ROOT, "docs/layers.svg")).iter():
            if element.tag == f"{SVG}rect":
                boxes.append(tuple(float(element.get(name, "0")) for name in ("x", "y", "width", "height")))
            elif element.tag == f"{SVG}text" and not element.get("transform"):
                at, down = float(element.get("x", "0")), float(element.get("y", "0"))
                left, top, right, bottom = place(element)
                box = min((b for b in boxes if b[0] <= at <= b[0] + b[2] and b[1] <= down <= b[1] + b[3]),
                          key=lambda b: b[2] * b[3])
                with self.subTest("".join(element.itertext())):
                    self.assertGreaterEqual(left, box[0] + MARGIN, "begins left of its box")
                    self.assertLessEqual(right, box[0] + box[2] - MARGIN, "ends right of its box")
                    self.assertGreaterEqual(top, box[1], "begins above its box")
                    self.assertLessEqual(bottom, box[1] + box[3], "ends below its box")

    def test_arrows(self) -> None:
        """No arrow crosses a text, and none is shorter than its head."""
        elements = list(ElementTree.parse(os.path.join(ROOT, "docs/layers.svg")).iter())
        texts = {"".join(each.itertext()): place(each) for each in elements if each.tag == f"{SVG}text"}
        arrows = [each.get("d", "") for each in elements if each.tag == f"{SVG}path" and not each.get("style")]
        self.assertGreater(sum(len(lines(arrow)) for arrow in arrows), 25)
        for arrow in arrows:
            last = lines(arrow)[-1]
            self.assertGreaterEqual(last[2] - last[0] + last[3] - last[1], HEAD, arrow)
            for line in lines(arrow):
                for text, (left, top, right, bottom) in texts.items():
                    with self.subTest(arrow=arrow, text=text):
                        self.assertFalse(left < line[2] + MARGIN and line[0] - MARGIN < right and top < line[3] and line[1] < bottom)
