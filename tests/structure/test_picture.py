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
