# SPDX-License-Identifier: MIT
"""The unit tests of the runtime with musl."""

import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import MUSL, unit_tests  # noqa: E402
from support import TESTS  # noqa: E402

CHECK_ALL = "another C library"

# Those of each instant take long, and ask the C library nothing. LTTng's library and libtraceevent are for another one.
LEFT_OUT = """ctf_handlers ctf_instant ctf_snapshot enable_if hist_instant lttng stats_instant synthetic_storm
    traceevent""".split()


def load_tests(loader, *_):
    names = {os.path.basename(path)[len("test_"):-len(".c")] for path in glob.glob(os.path.join(TESTS, "unit/test_*.c"))}
    assert names > set(LEFT_OUT), LEFT_OUT
    return unit_tests(__name__, loader, MUSL, sorted(names - set(LEFT_OUT)), few=True)
