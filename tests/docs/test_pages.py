# SPDX-License-Identifier: MIT
"""The pages with a worker work word for word (pages.py): the guide, which makes it, and those that use it."""

from __future__ import annotations

import os

from docs.pages import Page, have_alone, loose
from support import ROOT, need, read, unavailable


def page(name: str) -> str:
    return read(os.path.join(ROOT, "docs", name))


def worker() -> str:
    """How the guide installs tpgen and makes the worker."""
    return page("guide.md").split("\n## 3. ")[0]


class Pages(Page):
    def setUp(self) -> None:
        super().setUp()
        have_alone(self, "worker")

    def need_root(self) -> None:
        if os.geteuid():
            unavailable(self, "only root can do this")

    def test_guide(self) -> None:
        self.walk(page("guide.md"), fails="Field not found", one_line=loose)

    def test_troubleshooting(self) -> None:
        need(self, "setpriv")
        self.need_root()
        self.walk(worker() + page("troubleshooting.md"), fails="undefined symbol", one_line=loose)

    def test_cookbook(self) -> None:
        need(self, "unshare", "gdb")
        self.need_root()
        self.walk(worker() + page("cookbook.md"), one_line=loose)

    def test_tp(self) -> None:
        self.walk(worker() + page("tp.md"), one_line=loose)

    def test_concepts(self) -> None:
        self.walk(worker() + page("concepts.md"), one_line=loose)

    def test_coming_from(self) -> None:
        self.walk(worker() + page("coming-from.md"), one_line=loose)
