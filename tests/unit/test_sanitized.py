# SPDX-License-Identifier: MIT
"""The unit tests of the runtime, with AddressSanitizer and UndefinedBehaviorSanitizer."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from units import suite  # noqa: E402


def load_tests(*_):
    return suite(__name__, "asan")
