# SPDX-License-Identifier: MIT
"""C++, as docs/adopting/cxx.md shows it."""

from __future__ import annotations

import os

from docs.pages import Page, loose
from support import ROOT, need, read


class Cxx(Page):
    def test_page(self) -> None:
        need(self, "g++")
        guide = read(os.path.join(ROOT, "docs/guide.md")).split("\n## 1. ")[0]
        self.walk(guide + read(os.path.join(ROOT, "docs/adopting/cxx.md")), one_line=loose)
