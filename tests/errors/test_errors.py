# SPDX-License-Identifier: MIT
"""Bad inputs, each with the exact message: NAME.tp and NAME.err. Those in good/ are right, and nothing is said of them.

The plainest of each message is an example of docs/diagnostics.md, and not here: docs/test_diagnostics.py has these.

Remarks are asked for (-W) for inputs called remark-*, and for the good ones.
"""

from __future__ import annotations

import glob
import os
import unittest

from support import ROOT, expect, tpgen

HERE = os.path.dirname(os.path.abspath(__file__))


class Errors(unittest.TestCase):
    maxDiff = None


class Good(unittest.TestCase):
    maxDiff = None


def _bad(name: str):
    def test(self: unittest.TestCase) -> None:
        remarks = ["-W"] if name.startswith("remark-") else []
        done = tpgen("check", *remarks, f"tests/errors/{name}.tp", cwd=ROOT, env={"CC": "gcc"})
        expect(self, os.path.join(HERE, name + ".err"), done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 1 if ": error: " in done.stderr else 0)
        self.assertRegex(done.stderr, r" (?:error|warning|remark): .* \[TP\d\d\d\]\n")
    return test


def _good(name: str):
    def test(self: unittest.TestCase) -> None:
        done = tpgen("check", "-W", f"tests/errors/good/{name}.tp", cwd=ROOT, env={"CC": "gcc"})
        self.assertEqual((done.stderr, done.stdout, done.returncode), ("", "", 0))
    return test


def _add(case: type[unittest.TestCase], directory: str, make) -> None:
    for path in sorted(glob.glob(os.path.join(HERE, directory, "*.tp"))):
        name = os.path.splitext(os.path.basename(path))[0]
        setattr(case, "test_" + name.replace("-", "_"), make(name))


_add(Errors, "", _bad)
_add(Good, "good", _good)
