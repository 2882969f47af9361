# SPDX-License-Identifier: MIT
"""What the tests of storms have in common: with which runtimes a storm is run."""

from __future__ import annotations

from support import both, check_all


class Storms:
    """A mixin of tests with a storm()."""

    shipped = "static"  # what the storm calls the runtime that has no sanitizer

    def storm(self, libtp: str) -> None:
        raise NotImplementedError

    @both
    def test_as_shipped(self) -> None:
        self.storm(self.shipped)

    @check_all("test_as_shipped is enough before a commit")
    def test_address_sanitizer(self) -> None:
        self.storm("asan")

    @check_all("test_as_shipped is enough before a commit")
    def test_thread_sanitizer(self) -> None:
        self.storm("tsan")
