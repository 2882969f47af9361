# SPDX-License-Identifier: MIT
"""docs/adopting/cross.md works word for word."""

from __future__ import annotations

import fcntl
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from docs.pages import Page, loose  # noqa: E402
from platforms import ARMHF  # noqa: E402
from support import ROOT, read  # noqa: E402

CHECK_ALL = "another processor, in an emulator"


class Cross(Page):
    def test_page(self) -> None:
        if ARMHF.missing():
            self.skipTest(ARMHF.missing())
        ARMHF.make("libtp.a", "libtp.so", "tp")  # what the page makes, is there then
        with open(os.path.join(ARMHF.directory, "lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            del self.env["CC"]
            self.walk(read(os.path.join(ROOT, "docs/adopting/cross.md")), one_line=loose)
