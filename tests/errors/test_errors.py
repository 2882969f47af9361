# SPDX-License-Identifier: MIT
"""Bad inputs, each with the exact message: NAME.tp and NAME.err."""

from __future__ import annotations

import glob
import os
import unittest

from support import ROOT, expect, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))


class Errors(unittest.TestCase):
    maxDiff = None


def _test(name: str):
    def test(self: unittest.TestCase) -> None:
        done = tpgen("check", f"tests/errors/{name}.tp", cwd=ROOT, env={"CC": "gcc"})
        expect(self, os.path.join(HERE, name + ".err"), done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 1 if ": error: " in done.stderr else 0)
        self.assertRegex(done.stderr, r" (?:error|warning): .* \[TP\d\d\d\]\n")
    return test


for _path in sorted(glob.glob(os.path.join(HERE, "*.tp"))):
    _name = os.path.splitext(os.path.basename(_path))[0]
    setattr(Errors, "test_" + _name.replace("-", "_"), _test(_name))
