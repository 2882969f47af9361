# SPDX-License-Identifier: MIT
"""The unit tests of the runtime, on other processors."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from platforms import AARCH64, NARROW, unit_tests  # noqa: E402

CHECK_ALL = "other processors, in an emulator"

# What another processor may do otherwise: order of memory, instructions that are patched, counters, stacks, arguments of
# variable number, signed char, layouts. Options, files, texts and lists are the same everywhere.
DEPENDS = """clock ctf ctf_handlers ctf_instant ctf_threads enable_if events filter fork format enable_flag hist_instant hist_saved
    language lttng marker marker_event pointer probes registry sdt seq_print armed stack stats stats_field switch synthetic_storm
    text_threads thread"""


# What besides depends on the width of a long or of an off_t.
NARROW_DEPENDS = """counters ctf_format ctf_in ctf_options ctf_snapshot print_data stats_options synthetic text trigger"""


def load_tests(loader, *_):
    suite = unittest.TestSuite()
    for platform in (AARCH64, *NARROW):
        names = DEPENDS + NARROW_DEPENDS if platform in NARROW else DEPENDS
        suite.addTests(unit_tests(__name__, loader, platform, names.split()))
    return suite
