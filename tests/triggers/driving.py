# SPDX-License-Identifier: MIT
"""What the tests of triggers share: the events of shop.tp; driver.c, and scripts for it."""

from __future__ import annotations

import os
import re

from building import RUNTIME_INCLUDES, build, generate
from support import Case, run, temporary

HERE = os.path.dirname(os.path.abspath(__file__))


class Shop(Case):
    """Tests with programs in a directory of their own, and the headers of shop.tp in it."""

    directory: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.directory = temporary()
        generate(cls.directory, os.path.join(HERE, "shop.tp"))


class Driven(Shop):
    """A test with a driver."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        build(os.path.join(cls.directory, "driver"), os.path.join(HERE, "driver.c"), include=[cls.directory],
              flags=RUNTIME_INCLUDES)

    def drive(self, *lines: str, **env: str) -> list[str]:
        """What the driver prints for these lines. Of a record, the event's name and its text."""
        done = run([os.path.join(self.directory, "driver")], cwd=self.dir, input="\n".join(lines) + "\n", stdin=None,
                   env={**os.environ, **env})
        self.stderr = done.stderr
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [re.sub(r"^\d+\.\d+ \d+/\d+ \w+:", "", line) for line in done.stdout.splitlines()]

    def quiet(self) -> None:
        """Nothing was said."""
        self.assertEqual(self.stderr, "")
