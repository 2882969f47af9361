# SPDX-License-Identifier: MIT
"""The unit tests of the runtime, on an emulated processor."""

import glob
import os
import shlex
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "unit")]

import aarch64  # noqa: E402
from support import TESTS  # noqa: E402
from units import suite  # noqa: E402

CHECK_ALL = "another processor, in an emulator"

# These start themselves anew, which would be as programs of this machine's; need a library that is not unpacked;
# and take long, for what is the same everywhere.
LEFT_OUT = {"test_env", "test_env_processes", "test_traceevent", "test_print_data"}


class Missing(unittest.TestCase):
    def test_units(self):
        self.skipTest(aarch64.missing())


def load_tests(loader, *_):
    if aarch64.missing():
        return loader.loadTestsFromTestCase(Missing)
    sources = glob.glob(os.path.join(TESTS, "unit", "test_*.c"))
    names = sorted({os.path.splitext(os.path.basename(s))[0] for s in sources} - LEFT_OUT)
    aarch64.make(*(f"obj/unit/{name}" for name in names))
    # What is run is a script that starts the emulator.
    os.makedirs(os.path.join(aarch64.ARM, "unit"), exist_ok=True)
    for old in glob.glob(os.path.join(aarch64.ARM, "unit", "*")):
        os.remove(old)
    for name in names:
        script = os.path.join(aarch64.ARM, "unit", name)
        command = shlex.join(aarch64.emulated(os.path.join(aarch64.ARM, "obj/unit", name)))
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexec {command}\n")
        os.chmod(script, 0o755)
    return suite(__name__, "aarch64")
