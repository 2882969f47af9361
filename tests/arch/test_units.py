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
from units import suite  # noqa: E402

CHECK_ALL = "another processor, in an emulator"

# What another processor may do otherwise: order of memory, instructions that are patched, counters, stacks, arguments of
# variable number, signed char, layouts. Options, files, texts and lists are the same everywhere.
DEPENDS = """clock ctf ctf_handlers ctf_instant ctf_threads enable_if events filter fork format enable_flag hist_instant hist_saved
    language lttng marker marker_event pointer probes registry sdt seq_print armed stack stats stats_field switch synthetic_storm
    text_threads thread"""


class Missing(unittest.TestCase):
    def test_units(self):
        self.skipTest(aarch64.missing())


def load_tests(loader, *_):
    if aarch64.missing():
        return loader.loadTestsFromTestCase(Missing)
    names = [f"test_{name}" for name in DEPENDS.split()]
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
