# SPDX-License-Identifier: MIT
"""The unit tests of the runtime on 32-bit ARM."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import ARMHF, DEPENDS, NARROW_DEPENDS, unit_tests  # noqa: E402

CHECK_ALL = "another processor, in an emulator"


def load_tests(loader, *_):
    return unit_tests(__name__, loader, ARMHF, [*DEPENDS, *NARROW_DEPENDS])
