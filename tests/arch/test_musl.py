# SPDX-License-Identifier: MIT
"""The runtime with musl, the C library of Alpine."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import MUSL, unit_tests  # noqa: E402
