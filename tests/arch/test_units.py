# SPDX-License-Identifier: MIT
"""The unit tests of the runtime on arm64; test_units_armhf.py and test_units_i386.py have those of 32-bit processors."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import AARCH64, DEPENDS, unit_tests  # noqa: E402

CHECK_ALL = "another processor, in an emulator"


def load_tests(loader, *_):
    return unit_tests(__name__, loader, AARCH64, DEPENDS)
