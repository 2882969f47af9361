# SPDX-License-Identifier: MIT
"""generated/ is what tpgen makes of defs/ today; make generate brings it up to date."""

from __future__ import annotations

import glob
import os

from support import ROOT, Case, expect, read, tpgen


class Golden(Case):
    def test_generated_is_current(self) -> None:
        for name in ("defs", "templates", "tpgen"):
            os.symlink(os.path.join(ROOT, name), self.path(name))
        defs = sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "defs/*.tp")))
        done = tpgen("gen", "-o", "generated", *defs, cwd=self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        made = os.listdir(self.path("generated"))
        self.assertEqual(sorted(made), sorted(os.listdir(os.path.join(ROOT, "generated"))))
        for name in made:
            expect(self, os.path.join(ROOT, "generated", name), read(self.path(f"generated/{name}")))

    def test_nothing_of_this_machine(self) -> None:
        for path in glob.glob(os.path.join(ROOT, "generated/*.h")):
            self.assertNotIn(ROOT, read(path))

    def test_lines_are_short(self) -> None:
        """What tpgen writes itself fits in 110 columns; what it copies is as wide as it was."""
        for path in glob.glob(os.path.join(ROOT, "generated/*.h")):
            source = os.path.join(ROOT, "defs", os.path.basename(path).replace(".h", ".tp"))
            copied = read(source).splitlines()
            for number, line in enumerate(read(path).splitlines(), 1):
                if line not in copied:
                    self.assertLessEqual(len(line.expandtabs(8)), 110, f"{path}:{number}")
